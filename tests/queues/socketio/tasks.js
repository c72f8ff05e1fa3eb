// Socket.IO with its adapter for streams: servers, and checks of what their clients are sent.
"use strict";
const { fork } = require("child_process");
const { createServer } = require("http");
const { createAdapter } = require("@socket.io/redis-streams-adapter");
const { Redis } = require("ioredis");
const { Server } = require("socket.io");
const { io } = require("socket.io-client");
const job = require("job.js");

const settings = { heartbeatInterval: 500, heartbeatTimeout: 3000, blockTimeInMs: 500 };
const count = 300;

// A server in a process of its own, which sends its port to the process that started it.
async function serve() {
    const http = createServer();
    const sockets = new Server(http, {
        adapter: createAdapter(new Redis(job.address), settings),
        connectionStateRecovery: { maxDisconnectionDuration: 120_000 },
    });
    sockets.on("connection", (socket) => {
        socket.on("join", (room, done) => done(socket.join(room)));
        socket.on("say", (text) => sockets.emit("said", text));
        socket.on("tell", (room, text) => sockets.to(room).emit("said", text));
        socket.on("ask", async (done) => done(await sockets.timeout(60_000).emitWithAck("asked")));
        socket.on("who", (done) => sockets.fetchSockets().then((all) => done(all.length), () => done(0)));
    });
    http.listen(0, "127.0.0.1", () => process.send(http.address().port));
}

async function startServer() {
    const child = fork(__filename, ["serve"]);
    const port = await new Promise((resolve) => child.once("message", resolve));
    return { url: `http://127.0.0.1:${port}`, kill: () => child.kill("SIGKILL") };
}

// A client that keeps what it is told.
async function connect(server) {
    const client = io(server.url, { transports: ["websocket"], forceNew: true, reconnectionDelay: 100 });
    client.heard = [];
    client.on("said", (text) => client.heard.push(text));
    client.on("asked", (done) => done(server.url));
    await new Promise((resolve) => client.once("connect", resolve));
    return client;
}

const numbers = [...Array(count).keys()];
const isAll = (client) => JSON.stringify(client.heard) === JSON.stringify(numbers);

function forget(clients) {
    clients.forEach((client) => { client.heard.length = 0; });
}

// Until a server has read its first entry, it may miss some: it asks again and again for those that come from then on.
async function waitUntilAllRead(clients) {
    await job.until(() => {
        clients.forEach((client, i) => client.emit("say", `begin ${i}`));
        return clients.every((client, i) => client.heard.some((text) => text !== `begin ${i}`));
    });
    clients.forEach((client, i) => client.emit("say", `end ${i}`));
    await job.until(() => clients.every(({ heard }) => clients.every((_, i) => heard.includes(`end ${i}`))));
    forget(clients);
}

async function checkMessages(clients, who) {
    for (const n of numbers) clients[0].emit("say", n);
    await job.until(() => clients.every((client) => client.heard.length >= count));
    job.verdict("clients of all servers hear all, in order", clients.every(isAll));
    forget(clients);
    await clients[1].emitWithAck("join", "room");
    clients[2].emit("tell", "room", Buffer.from([0, 13, 10, 255]));
    clients[2].emit("say", "end");
    await job.until(() => clients.every((client) => client.heard.includes("end")));
    job.verdict("a room hears bytes as they were sent", clients[1].heard[0].equals(Buffer.from([0, 13, 10, 255])));
    job.verdict("and others do not", clients[0].heard.length === 1 && clients[2].heard.length === 1);
    const answers = await clients[0].emitWithAck("ask");
    job.verdict("clients of all servers answer", answers.length === 3 && new Set(answers).size === 3);
    job.verdict("clients of all servers are listed", await who() === 3);
    forget(clients);
}

// What is said while a client is away reaches it when it comes back, although to another server. That server must have
// sent it all to others before: what is still to come from the stream, the client would hear twice.
async function checkAbsence(clients, servers, who) {
    const away = clients[1];
    away.io.reconnection(false);
    away.io.engine.close();
    await job.until(async () => await who() === 2);
    for (const n of numbers) clients[2].emit("say", n);
    await job.until(() => clients[0].heard.length >= count);
    away.io.uri = servers[0].url;
    away.connect();
    await job.until(() => away.heard.length >= count);
    job.verdict("a client that was away hears what it missed", away.recovered && isAll(away));
    await job.until(() => clients[2].heard.length >= count);
    forget(clients);
}

async function checkKilled(clients, servers, who) {
    for (const n of numbers) {
        if (n === count / 3) servers[1].kill();
        clients[2].emit("say", n);
    }
    await job.until(() => [0, 1, 2].every((i) => clients[i].heard.length >= count));
    job.verdict("a killed server takes nothing from the others' clients", [0, 1, 2].every((i) => isAll(clients[i])));
    await job.until(async () => await who() === 3);
    job.verdict("its own clients are no longer listed", true);
}

async function check() {
    const servers = await Promise.all([0, 1, 2].map(startServer));
    const clients = await Promise.all(servers.map(connect));
    const who = () => clients[0].emitWithAck("who");
    await job.until(async () => await who() === 3);
    await waitUntilAllRead(clients);
    await checkMessages(clients, who);
    await checkAbsence(clients, servers, who);
    clients.push(await connect(servers[1]));
    await job.until(async () => await who() === 4);
    await checkKilled(clients, servers, who);
    servers.forEach((server) => server.kill());
    process.exit(0);
}

job.run({ serve, check });
