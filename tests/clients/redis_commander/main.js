// redis-commander in a browser: the pages on which people look at keys of each type and change them.
// Arguments: the URL of redis-commander, the path of Chromium.
'use strict';

const { Redis } = require('ioredis');
const { isDeepStrictEqual } = require('node:util');
const { chromium } = require('playwright-core');
const { assert, check, port, runChecks, waitUntil } = require('../checks.js');

const [, , url, executablePath] = process.argv;
const patience = 120000; // the machine may be busy, and a browser needs much of it
const admin = new Redis(port);
let browser;
let page;
let pageIsGood = false; // the last check left the page as it found it
let problems; // what the page reports and no user should see

function startBrowser() {
  return chromium.launch({
    executablePath,
    chromiumSandbox: false, // it does not work for root or in containers
    args: ['--disable-gpu', '--no-proxy-server', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    timeout: patience,
  });
}

async function openPage() {
  await page?.close();
  problems = [];
  page = await browser.newPage();
  page.setDefaultTimeout(patience);
  page.on('pageerror', (error) => problems.push(`${error.stack}`));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
  });
  page.on('dialog', (dialog) => {
    if (dialog.type() !== 'confirm') problems.push(dialog.message());
    return dialog.accept();
  });
  await page.goto(url);
  await treeEntry('other').waitFor();
  await page.evaluate(() => {
    window.refreshes = 0;
    window.$('#keyTree').on('refresh.jstree', () => { window.refreshes++; });
    window.$(document).on('shown', (event) => { event.target.dataset.isShown = 'yes'; })
      .on('hide', (event) => { delete event.target.dataset.isShown; });
  });
}

/** Does what lets the page load the tree and the shown key again, and waits until it has. */
async function reloading(act) {
  const before = await page.evaluate(() => window.refreshes);
  await act();
  await page.waitForFunction((count) => window.refreshes > count && window.$.active === 0, before);
}

/** The entry of the tree on the left with a key's name, behind which the number of its elements may stand. */
function treeEntry(text) {
  return page.locator('#keyTree a.jstree-anchor').filter({ hasText: new RegExp(`^\\s*${text}( \\(|\\s*$)`) });
}

/** The cells of a key's table, a row an array; one row with its text for a string. */
function shown() {
  return page.evaluate(() => {
    const text = document.querySelector('#itemData #stringValue');
    if (text) return [[text.value]];
    return [...document.querySelectorAll('#itemData tbody tr')].map((row) =>
      [...row.querySelectorAll('td:not(.json-renderer)')].map((cell) => cell.textContent.trim()));
  });
}

/** Waits until the page shows these rows. */
async function shows(...rows) {
  const asExpected = async () => isDeepStrictEqual(await shown(), rows);
  await waitUntil(asExpected, patience).catch(async () => assert.deepEqual(await shown(), rows));
}

/** Fills the fields of a dialog, by their ids, and presses a button. A dialog that is still fading in takes the focus
 * when it has come, and what is typed at that moment goes to another field. */
async function fillDialog(dialog, fields, button) {
  const form = page.locator(`${dialog}[data-is-shown]`);
  await form.waitFor();
  await waitUntil(async () => {
    for (const [field, value] of Object.entries(fields)) {
      const control = form.locator(field);
      await (field === '#keyType' ? control.selectOption(value) : control.fill(value));
    }
    const filled = await Promise.all(Object.keys(fields).map((field) => form.locator(field).inputValue()));
    return isDeepStrictEqual(filled, Object.values(fields));
  }, patience);
  await reloading(() => form.getByRole('button', { name: button }).click());
  await page.locator(dialog).waitFor({ state: 'hidden' });
}

async function addKey(type, fields) {
  await treeEntry('local').click();
  await page.getByRole('button', { name: 'Add New Key...' }).click();
  await fillDialog('#addKeyModal', { '#keyValue': 'mine', '#keyType': type, ...fields }, 'Save');
  await waitUntil(async () => await admin.type('mine') === type, patience);
  await treeEntry('mine').click();
}

async function addElement(button, dialog, fields) {
  await page.getByRole('button', { name: button }).click();
  await fillDialog(dialog, fields, 'Save');
}

async function openRow(text) {
  await page.locator('#itemData tbody tr').filter({ hasText: text }).dblclick();
}

async function deleteKey() {
  await reloading(() => page.getByRole('button', { name: 'Delete Key' }).click());
  assert.equal(await treeEntry('mine').count(), 0);
  assert.equal(await admin.exists('mine'), 0);
}

function checkPage(name, run) {
  check(name, async () => {
    pageIsGood = false;
    await run();
    assert.deepEqual(problems, []);
    pageIsGood = true;
  });
}

checkPage('a string is added, shown, edited and deleted', async () => {
  await addKey('string', { '#newStringValue': 'first value' });
  await shows(['first value']);
  await page.locator('#stringValue').fill('second value');
  await reloading(() => page.locator('#editStringForm').getByRole('button', { name: 'Save' }).click());
  await shows(['second value']);
  assert.equal(await admin.get('mine'), 'second value');
  await deleteKey();
});

checkPage('a list is added, shown, edited and deleted', async () => {
  await addKey('list', { '#newStringValue': 'first' });
  await shows(['0', 'first']);
  await addElement('Add', '#addListValueModal', { '#addListValue': 'zeroth' });
  await shows(['0', 'zeroth'], ['1', 'first']);
  await openRow('first');
  await fillDialog('#editListValueModal', { '#listValue': 'second' }, 'Save');
  await shows(['0', 'zeroth'], ['1', 'second']);
  assert.deepEqual(await admin.lrange('mine', 0, -1), ['zeroth', 'second']);
  await openRow('zeroth');
  await fillDialog('#editListValueModal', {}, 'Remove Element');
  await shows(['0', 'second']);
  assert.deepEqual(await admin.lrange('mine', 0, -1), ['second']);
  await deleteKey();
});

checkPage('a set is added, shown, edited and deleted', async () => {
  await addKey('set', { '#newStringValue': 'apple' });
  await shows(['apple']);
  await addElement('Add', '#addSetMemberModal', { '#addSetMemberName': 'pear' });
  await shows(['apple'], ['pear']);
  await openRow('apple');
  await fillDialog('#editSetMemberModal', { '#setMember': 'plum' }, 'Save');
  await shows(['pear'], ['plum']);
  assert.deepEqual((await admin.smembers('mine')).sort(), ['pear', 'plum']);
  await openRow('pear');
  await fillDialog('#editSetMemberModal', {}, 'Remove Member');
  await shows(['plum']);
  assert.deepEqual(await admin.smembers('mine'), ['plum']);
  await deleteKey();
});

checkPage('a sorted set is added, shown, edited and deleted', async () => {
  await addKey('zset', { '#keyScore': '2', '#newStringValue': 'anna' });
  await shows(['0', '2', 'anna']);
  await addElement('Add', '#addZSetMemberModal', { '#addZSetScore': '3', '#addZSetMemberName': 'ben' });
  await shows(['0', '3', 'ben'], ['1', '2', 'anna']);
  await openRow('anna');
  await fillDialog('#editZSetMemberModal', { '#zSetScore': '7' }, 'Save');
  await shows(['0', '7', 'anna'], ['1', '3', 'ben']);
  assert.deepEqual(await admin.zrange('mine', 0, -1, 'WITHSCORES'), ['ben', '3', 'anna', '7']);
  await openRow('ben');
  await fillDialog('#editZSetMemberModal', {}, 'Remove Element');
  await shows(['0', '7', 'anna']);
  assert.deepEqual(await admin.zrange('mine', 0, -1), ['anna']);
  await deleteKey();
});

checkPage('a hash is added, shown, edited and deleted', async () => {
  await addKey('hash', { '#newFieldName': 'name', '#newStringValue': 'Anna' });
  await shows(['name', 'Anna']);
  await addElement('Add', '#addHashFieldModal', { '#addHashFieldName': 'town', '#addHashFieldValue': 'Basel' });
  await shows(['name', 'Anna'], ['town', 'Basel']);
  await openRow('Anna');
  await fillDialog('#editHashFieldModal', { '#hashFieldValue': 'Ben' }, 'Save');
  await shows(['name', 'Ben'], ['town', 'Basel']);
  assert.deepEqual(await admin.hgetall('mine'), { name: 'Ben', town: 'Basel' });
  await openRow('town');
  await fillDialog('#editHashFieldModal', {}, 'Remove Field');
  await shows(['name', 'Ben']);
  assert.deepEqual(await admin.hgetall('mine'), { name: 'Ben' });
  await deleteKey();
});

checkPage('the tree shows keys of every type with their sizes', async () => {
  await admin.pipeline().set('text', 'x').rpush('queue', 'a', 'b').sadd('fruit', 'a', 'b', 'c').zadd('scores', 1, 'a')
    .hset('user', 'name', 'Anna').exec();
  await openPage();
  for (const [key, type, size] of [['text', 'String', ''], ['queue', 'List', ' (2)'], ['fruit', 'Set', ' (3)'],
    ['scores', 'ZSet', ' (1)'], ['user', 'Hash', '']]) {
    await treeEntry(key).waitFor();
    assert.equal((await treeEntry(key).textContent()).trim(), key + size);
    assert.match(await treeEntry(key).locator('i').getAttribute('style'), new RegExp(`tree${type}\\.png`));
  }
});

checkPage('the page of the server shows INFO, and the command line runs commands', async () => {
  await treeEntry('local').click();
  await page.locator('#body').getByText('Used memory human').waitFor();
  await page.locator('#commandLine').click();
  await page.keyboard.type('zadd scores 2 anna');
  await page.keyboard.press('Enter');
  await waitUntil(async () => await admin.zscore('scores', 'anna') === '2', patience);
});

runChecks(async () => {
  browser ??= await startBrowser();
  await admin.flushall();
  await admin.set('other', 'value'); // the tree stays open only while it has entries
  if (!pageIsGood) await openPage();
}, {
  limit: 2 * patience,
  async finish() {
    admin.disconnect();
    await browser?.close();
  },
});
