# Scripts: errors, the functions of `redis` beside call and pcall, the first line of a script, SCRIPT. The replies
# expected are those of Redis 8.
source [file join [file dirname [file normalize [info script]]] lib packlist.tcl]
source $library/scripts.tcl

server_start

# --- Errors of commands

check "return redis.call('nosuch')" {
    typed EVAL {return redis.call('nosuch')} 0
} [raised 1 206396248e12c6e742fd7296250433c8d7343b74 {ERR Unknown Redis command called from script}]
check "return redis.call('')" {
    typed EVAL {return redis.call('')} 0
} [raised 1 4f747abccded4fe9957e621fd4c471a3268503ec {ERR Unknown Redis command called from script}]
check "return redis.call('GET')" {
    typed EVAL {return redis.call('GET')} 0
} [raised 1 72273adc3c5955bf8543f1ad6ce893355b89617d {ERR Wrong number of args calling Redis command from script}]
check "return redis.call('OBJECT')" {
    typed EVAL {return redis.call('OBJECT')} 0
} [raised 1 4b266f733b5641d27f4817fa19995ff8b02f7c4e {ERR Wrong number of args calling Redis command from script}]
check "return redis.call('OBJECT', 'nosuch', 'x')" {
    typed EVAL {return redis.call('OBJECT', 'nosuch', 'x')} 0
} [raised 1 57509d3b4a4ce3d74f21fd39fdde85ebee4a944c {ERR Unknown Redis command called from script}]
check "return redis.pcall('GET')" {
    typed EVAL {return redis.pcall('GET')} 0
} {error {ERR Wrong number of args calling Redis command from script}}
check "return redis.pcall('nosuch')" {
    typed EVAL {return redis.pcall('nosuch')} 0
} {error {ERR Unknown Redis command called from script}}
check "return redis.call('LPUSH', 'k', 'a')" {
    r SET k v; typed EVAL {return redis.call('LPUSH', 'k', 'a')} 0
} [raised 1 dca725a4b30a3692392241114322dc86fb53638d \
    {WRONGTYPE Operation against a key holding the wrong kind of value}]
check "return redis.pcall('LPUSH', 'k', 'a')" {
    r SET k v; typed EVAL {return redis.pcall('LPUSH', 'k', 'a')} 0
} {error {WRONGTYPE Operation against a key holding the wrong kind of value}}
check "return redis.pcall('LPUSH', 'k', 'a').err" {
    r SET k v; typed EVAL {return redis.pcall('LPUSH', 'k', 'a').err} 0
} {bulk {WRONGTYPE Operation against a key holding the wrong kind of value}}
check "return error(redis.pcall('LPUSH', 'k', 'a'))" {
    r SET k v; typed EVAL {return error(redis.pcall('LPUSH', 'k', 'a'))} 0
} [raised 1 d3039f5055737f4ccf00a1d0fe24d31e254e8bd8 \
    {WRONGTYPE Operation against a key holding the wrong kind of value}]
check "nnredis.call('LPUSH', 'k', 'a')" {
    r SET k v; typed EVAL "\n\nredis.call('LPUSH', 'k', 'a')" 0
} [raised 3 5502906026f47a96c518f17fb35abb365c3c3d51 \
    {WRONGTYPE Operation against a key holding the wrong kind of value}]
check "local function f() redis.call('LPUSH', 'k', 'a') endnnf()" {
    r SET k v; typed EVAL "local function f() redis.call('LPUSH', 'k', 'a') end\n\nf()" 0
} [raised 1 baa1d5fcdd1c5b2a8f1dd7fde25aa67713b51588 \
    {WRONGTYPE Operation against a key holding the wrong kind of value}]
check "coroutine.wrap(function() redis.call('LPUSH', 'k', 'a') end)()" {
    r SET k v; typed EVAL {coroutine.wrap(function() redis.call('LPUSH', 'k', 'a') end)()} 0
} [raised 1 f75df441fd3e96dc3053f9ee74cb73e178bdf701 \
    {WRONGTYPE Operation against a key holding the wrong kind of value}]
check "table.sort(3, 2, 1, function() redis.call('LPUSH', 'k', 'a') end)" {
    r SET k v; typed EVAL {table.sort({3, 2, 1}, function() redis.call('LPUSH', 'k', 'a') end)} 0
} [raised 1 3a35f32992f49e2b6d08e7ee04cf9d79afe8f515 \
    {WRONGTYPE Operation against a key holding the wrong kind of value}]
check "return redis.call('MULTI')" {
    typed EVAL {return redis.call('MULTI')} 0
} [raised 1 ba922d924f6e7808414359ed93c37767dd0532ce {ERR This Redis command is not allowed from script}]
check "return redis.call('EVAL', 'return 1', 0)" {
    typed EVAL {return redis.call('EVAL', 'return 1', 0)} 0
} [raised 1 51af7d9e69c8a140be715186c1d9c1fa012744cf {ERR This Redis command is not allowed from script}]
check "return redis.call('SUBSCRIBE', 'c')" {
    typed EVAL {return redis.call('SUBSCRIBE', 'c')} 0
} [raised 1 fa2d76c712f187fcf5e66d07e8d0bf47c3687b4b {ERR This Redis command is not allowed from script}]
check "return redis.call('CLIENT', 'ID')" {
    typed EVAL {return redis.call('CLIENT', 'ID')} 0
} [raised 1 233f7441432f0547699dda06f84256b93e1c9189 {ERR This Redis command is not allowed from script}]
check "return redis.call('CONFIG', 'GET', 'port')" {
    typed EVAL {return redis.call('CONFIG', 'GET', 'port')} 0
} [raised 1 510628f70ee46c73871b3ff873201f5b0f611c5c {ERR This Redis command is not allowed from script}]
check "return redis.call('HELLO', 3)" {
    typed EVAL {return redis.call('HELLO', 3)} 0
} [raised 1 f9f97143ded973bd00688f066f0359162e729a15 {ERR This Redis command is not allowed from script}]
check "return redis.call('SCRIPT', 'LOAD', 'return 1')" {
    typed EVAL {return redis.call('SCRIPT', 'LOAD', 'return 1')} 0
} [raised 1 7df28468ad9662978c0b7c14bdf7cf673d746073 {ERR This Redis command is not allowed from script}]
check "return redis.call('DEBUG', 'SLEEP', 0)" {
    typed EVAL {return redis.call('DEBUG', 'SLEEP', 0)} 0
} [raised 1 ab615d320364c1528fabf4644cd72ce69dc77095 {ERR This Redis command is not allowed from script}]
check "return redis.call('SRANDMEMBER', 'k', -9e18)" {
    typed EVAL {return redis.call('SRANDMEMBER', 'k', -9e18)} 0
} [raised 1 fb4362cdd9fd1ec86e0eb0dcf27551ac7ee1011a {ERR value is not an integer or out of range}]

# --- Errors of scripts

check "error('abc')" {
    typed EVAL {error('abc')} 0
} [raised 1 40f4debfbef65423a0809794fadc3c7709d71d9f {ERR user_script:1: abc}]
check "error(err = 'abc def')" {
    typed EVAL {error({err = 'abc def'})} 0
} [raised 1 eec5cd9dcf179762073d32ffc0b0789693449194 {abc def}]
check "error(err = 'arnb')" {
    typed EVAL {error({err = 'a\r\nb'})} 0
} [raised 1 00da3577b1057fe12dea4f90972af2d969a2b408 {a  b}]
check "error('arn+b')" {
    typed EVAL {error('a\r\n+b')} 0
} [raised 1 ae90002650500b5257f90e36727dda9035c42bd4 {ERR user_script:1: a  +b}]
check "error()" {typed EVAL {error({})} 0} [raised 1 367bf7fe449ba40e54d99d9086aa3c2164008136 {ERR unknown error}]
check "error(12)" {
    typed EVAL {error(12)} 0
} [raised 1 531d78cb0a3022f46aa8fcca247caa61d303b321 {ERR user_script:1: 12}]
check "error(nil)" {typed EVAL {error(nil)} 0} [raised 1 c402aa49952c86c38f35fb311d54977d08f3bf01 {ERR nil}]
check "error(true)" {typed EVAL {error(true)} 0} [raised 1 4fafe2149f68a1618a3eef40aeef55f5af6951da {ERR true}]
check "local a = nil; return a.b" {
    typed EVAL {local a = nil; return a.b} 0
} [raised 1 a4f98b90454ae717765b45eb6f71312d37f994c6 {ERR user_script:1: attempt to index local 'a' (a nil value)}]
check "return nosuch" {
    typed EVAL {return nosuch} 0
} [raised 1 100e7d6e08587ed416717dc6d703eca312809a20 \
    {ERR user_script:1: Script attempted to access nonexistent global variable 'nosuch'}]
check "x = 1" {
    typed EVAL {x = 1} 0
} [raised 1 34bce5f775de97f557a34088509c8bfe1ea17e52 {ERR user_script:1: Attempt to modify a readonly table}]
check "redis.call = 1" {
    typed EVAL {redis.call = 1} 0
} [raised 1 69f883616b1814e2dc95cf801f324e38c5cc5ed2 {ERR user_script:1: Attempt to modify a readonly table}]
check "redis.foo = 1" {
    typed EVAL {redis.foo = 1} 0
} [raised 1 1afad7befb249f32b7b09d28680712e03c705ddb {ERR user_script:1: Attempt to modify a readonly table}]
check "string.gsub('abc', '.', function() error('q') end)" {
    typed EVAL {string.gsub('abc', '.', function() error('q') end)} 0
} [raised 1 482593a0e6e30c9daa5be573a0bea71f023d7a19 {ERR user_script:1: q}]
check "return select(2, pcall())" {
    typed EVAL {return select(2, pcall())} 0
} {bulk {attempt to call a boolean value}}
check "syntax error here" {
    typed EVAL {syntax error here} 0
} {error {ERR Error compiling script (new function): user_script:1: '=' expected near 'error'}}
check "nnreturn +" {
    typed EVAL "\n\nreturn +" 0
} {error {ERR Error compiling script (new function): user_script:3: unexpected symbol near '+'}}
check "return 1 -1" {typed EVAL {return 1} -1} {error {ERR Number of keys can't be negative}}
check "return 1 2 a" {typed EVAL {return 1} 2 a} {error {ERR Number of keys can't be greater than number of args}}
check "return 1 a" {typed EVAL {return 1} a} {error {ERR value is not an integer or out of range}}
check "return 1 99999999999999999999" {
    typed EVAL {return 1} 99999999999999999999
} {error {ERR value is not an integer or out of range}}
check "EVALSHA abc" {typed EVALSHA abc 0} {error {NOSCRIPT No matching script. Please use EVAL.}}
check "EVALSHA ffffffffffffffffffffffffffffffffffffffff" {
    typed EVALSHA ffffffffffffffffffffffffffffffffffffffff 0
} {error {NOSCRIPT No matching script. Please use EVAL.}}
check "EVALSHA abc x" {typed EVALSHA abc x} {error {NOSCRIPT No matching script. Please use EVAL.}}
check "EVALSHA 1fb36208fb7f0307f20a17d3a1ef8f5afddaf256" {
    r SCRIPT LOAD {return 7}; typed EVALSHA 1fb36208fb7f0307f20a17d3a1ef8f5afddaf256 0
} {error {NOSCRIPT No matching script. Please use EVAL.}}

# --- redis.error_reply and the like

check "return redis.error_reply('abc')" {typed EVAL {return redis.error_reply('abc')} 0} {error {ERR abc}}
check "return redis.error_reply('-ERR abc')" {typed EVAL {return redis.error_reply('-ERR abc')} 0} {error {ERR abc}}
check "return redis.error_reply('')" {typed EVAL {return redis.error_reply('')} 0} {error {ERR }}
check "return redis.error_reply('MY abc')" {typed EVAL {return redis.error_reply('MY abc')} 0} {error {MY abc}}
check "return redis.error_reply('MY abc').err" {typed EVAL {return redis.error_reply('MY abc').err} 0} {bulk {MY abc}}
check "return redis.error_reply('arnb')" {typed EVAL {return redis.error_reply('a\r\nb')} 0} {error {ERR a  b}}
check "return redis.error_reply('MY arn+brn')" {
    typed EVAL {return redis.error_reply('MY a\r\n+b\r\n')} 0
} {error {MY a  +b}}
check "return error(redis.error_reply('MY x'))" {
    typed EVAL {return error(redis.error_reply('MY x'))} 0
} [raised 1 741edac149b69fcf1cae088ee44877b09de0819c {MY x}]
foreach {script expected} {
    {return {ok = 'a\0b'}} {simple a}
    {return {err = 'a\0b'}} {error a}
    {return redis.error_reply('a\0b')} {error {ERR a}}
    {return redis.error_reply('MY a\0b')} {error {MY a}}
    {return redis.status_reply('a\0b')} {simple a}
    {return redis.error_reply('-')} {error {ERR }}
    {return redis.error_reply('--x')} {error {ERR -x}}
    {return redis.error_reply(' x')} {error { x}}
    {return redis.status_reply('')} {simple {}}
    {return {err = 'x', ok = 'y'}} {error x}
    {return {1, 2, ok = 'x'}} {simple x}
} {
    check $script [list typed EVAL $script 0] $expected
}
check "error({err=5})" {typed EVAL {error({err=5})} 0} [raised 1 58cfd935477cdbf9342fa1cc3ec8452b6a3ddc4b 5]
check "error('a0b')" {
    regsub { script: .*} [error_of {r EVAL {error('a\0b', 0)} 0}] ""
} {ERR a}
check "return redis.error_reply()" {
    typed EVAL {return redis.error_reply()} 0
} {error {ERR wrong number or type of arguments}}
check "return redis.error_reply('a', 'b')" {
    typed EVAL {return redis.error_reply('a', 'b')} 0
} {error {ERR wrong number or type of arguments}}
check "return redis.error_reply(1)" {
    typed EVAL {return redis.error_reply(1)} 0
} {error {ERR wrong number or type of arguments}}
check "return redis.status_reply('fine')" {typed EVAL {return redis.status_reply('fine')} 0} {simple fine}
check "return redis.status_reply('arn+b')" {typed EVAL {return redis.status_reply('a\r\n+b')} 0} {simple {a  +b}}
check "return redis.status_reply()" {
    typed EVAL {return redis.status_reply()} 0
} {error {ERR wrong number or type of arguments}}
check "return redis.sha1hex('abc')" {
    typed EVAL {return redis.sha1hex('abc')} 0
} {bulk a9993e364706816aba3e25717850c26c9cd0d89d}
check "return redis.sha1hex(1)" {
    typed EVAL {return redis.sha1hex(1)} 0
} {bulk 356a192b7913b04c54574d18c28d46e6395428ab}
check "return redis.sha1hex()" {
    typed EVAL {return redis.sha1hex({})} 0
} {bulk da39a3ee5e6b4b0d3255bfef95601890afd80709}
check "return redis.sha1hex()" {
    typed EVAL {return redis.sha1hex()} 0
} [raised 1 3c7ce947ae74a835cc575b6ee87fb27503cb7ba4 {ERR wrong number of arguments}]
check "return redis.sha1hex('a', 'b')" {
    typed EVAL {return redis.sha1hex('a', 'b')} 0
} [raised 1 168a80c1fc9ccc2a1035122eae7afa0f638ba5b5 {ERR wrong number of arguments}]
check "return redis.log()" {
    typed EVAL {return redis.log()} 0
} [raised 1 28e28bf25123668ac541f5eec91bf7ad3d2fe0bd {ERR redis.log() requires two arguments or more.}]
check "return redis.log(10, 'x')" {
    typed EVAL {return redis.log(10, 'x')} 0
} [raised 1 c528c28f2cb34d2864917019605002a5cc147790 {ERR Invalid log level.}]
check "return redis.log(-1, 'x')" {
    typed EVAL {return redis.log(-1, 'x')} 0
} [raised 1 7bcf47ce4df7fae2d604b3ca1d3ca25d0005f487 {ERR Invalid log level.}]
check "return redis.log('a', 'x')" {
    typed EVAL {return redis.log('a', 'x')} 0
} [raised 1 6e3a00a16f7fdeb91375a702194617cbeea8bc10 {ERR First argument must be a number (log level).}]
check_in 2 "return redis.log(redis.LOG_DEBUG, 'x')" {typed EVAL {return redis.log(redis.LOG_DEBUG, 'x')} 0} nil
check_in 3 "return redis.log(redis.LOG_DEBUG, 'x')" {typed EVAL {return redis.log(redis.LOG_DEBUG, 'x')} 0} null
check "return redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING" {
    typed EVAL {return {redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING}} 0
} {array {{int 0} {int 1} {int 2} {int 3}}}
check "return redis.REPL_NONE, redis.REPL_AOF, redis.REPL_SLAVE, redis.REPL_REPLICA, redis.REPL_ALL" {
    typed EVAL {return {redis.REPL_NONE, redis.REPL_AOF, redis.REPL_SLAVE, redis.REPL_REPLICA, redis.REPL_ALL}} 0
} {array {{int 0} {int 1} {int 2} {int 2} {int 3}}}
check "return redis.setresp()" {
    typed EVAL {return redis.setresp()} 0
} [raised 1 76da64e28014e7c9ad76db33c3918c53d81a3d7e {ERR redis.setresp() requires one argument.}]
check "return redis.setresp(4)" {
    typed EVAL {return redis.setresp(4)} 0
} [raised 1 921c0a48021d97dfd5884aeea41875972c7804d9 {ERR RESP version must be 2 or 3.}]
check "return redis.setresp('x')" {
    typed EVAL {return redis.setresp('x')} 0
} [raised 1 832d0a243114b515e35cb3f65c28e22af06cd822 {ERR RESP version must be 2 or 3.}]
check_in 2 "return redis.setresp('3')" {typed EVAL {return redis.setresp('3')} 0} nil
check_in 3 "return redis.setresp('3')" {typed EVAL {return redis.setresp('3')} 0} null
check "return redis.set_repl()" {
    typed EVAL {return redis.set_repl()} 0
} [raised 1 9504533b41060c143a92eb2f8878e77d33b6dc33 {ERR redis.set_repl() requires one argument.}]
check "return redis.set_repl(9)" {
    typed EVAL {return redis.set_repl(9)} 0
} [raised 1 f43d522179aeb2c4dadb59b026d11ed249ca02e0 \
    {ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.}]
check "return redis.set_repl(1, 2)" {
    typed EVAL {return redis.set_repl(1, 2)} 0
} [raised 1 c9c67092b486cf34f4561d4502d9ef00d83cee35 {ERR redis.set_repl() requires one argument.}]
check_in 2 "return redis.set_repl(redis.REPL_ALL)" {typed EVAL {return redis.set_repl(redis.REPL_ALL)} 0} nil
check_in 3 "return redis.set_repl(redis.REPL_ALL)" {typed EVAL {return redis.set_repl(redis.REPL_ALL)} 0} null
check "return redis.replicate_commands()" {typed EVAL {return redis.replicate_commands()} 0} {int 1}
check_in 2 "return redis.breakpoint()" {typed EVAL {return redis.breakpoint()} 0} nil
check_in 3 "return redis.breakpoint()" {typed EVAL {return redis.breakpoint()} 0} null
check_in 2 "return redis.debug('x')" {typed EVAL {return redis.debug('x')} 0} nil
check_in 3 "return redis.debug('x')" {typed EVAL {return redis.debug('x')} 0} null
check_in 2 "return redis.nosuch" {typed EVAL {return redis.nosuch} 0} nil
check_in 3 "return redis.nosuch" {typed EVAL {return redis.nosuch} 0} null
check "return redis.acl_check_cmd('GET', 'x')" {typed EVAL {return redis.acl_check_cmd('GET', 'x')} 0} {int 1}
check "return redis.acl_check_cmd('CONFIG', 'GET', 'x')" {
    typed EVAL {return redis.acl_check_cmd('CONFIG', 'GET', 'x')} 0
} {int 1}
foreach arguments {{'set', 'k'} 'OBJECT' {'OBJECT', 'HELP'} {'get', 5}} {
    check "return redis.acl_check_cmd($arguments)" [list typed EVAL "return redis.acl_check_cmd($arguments)" 0] {int 1}
}
foreach arguments {nil {{}} {'SET', 'k', nil} {'SET', 'k', {}}} {
    check "return redis.acl_check_cmd($arguments)" [string map [list ARGUMENTS $arguments] {
        regsub { script: .*} [error_of {r EVAL {return redis.acl_check_cmd(ARGUMENTS)} 0}] ""
    }] \
        {ERR Lua redis lib command arguments must be strings or integers}
}
check "return redis.acl_check_cmd('nosuch')" {
    typed EVAL {return redis.acl_check_cmd('nosuch')} 0
} [raised 1 d2491587bab5149c93be0dce4426f7a06ba9e1a1 {ERR Invalid command passed to redis.acl_check_cmd()}]
check "return redis.acl_check_cmd()" {
    typed EVAL {return redis.acl_check_cmd()} 0
} [raised 1 1124f33ad66e7866b4e0c1499a4c20fb5eb9c180 \
    {ERR Please specify at least one argument for this redis lib call}]

# --- The first line

check "#!luanreturn 1" {typed EVAL "#!lua\nreturn 1" 0} {int 1}
check "#!luanreturn nosuch" {
    typed EVAL "#!lua\nreturn nosuch" 0
} [raised 2 5ec385bf456a1e0658a86a76a338e6b8cb19e4dd \
    {ERR user_script:2: Script attempted to access nonexistent global variable 'nosuch'}]
check "#!lua flags=no-writes,allow-oom,allow-stale,no-cluster,allow-cross-slot-keysnreturn 1" {
    typed EVAL "#!lua flags=no-writes,allow-oom,allow-stale,no-cluster,allow-cross-slot-keys\nreturn 1" 0
} {int 1}
check "#!lua  flags=no-writes flags=allow-oomnreturn 1" {
    typed EVAL "#!lua  flags=no-writes flags=allow-oom\nreturn 1" 0
} {int 1}
check "#!lua flags=nreturn 1" {typed EVAL "#!lua flags=\nreturn 1" 0} {int 1}
check "#!lua flags=nosuchnreturn 1" {
    typed EVAL "#!lua flags=nosuch\nreturn 1" 0
} {error {ERR Unexpected flag in script shebang: nosuch}}
check "#!lua flags=no-writes,nreturn 1" {
    typed EVAL "#!lua flags=no-writes,\nreturn 1" 0
} {error {ERR Unexpected flag in script shebang: }}
check "#!lua flags=arbnreturn 1" {
    typed EVAL "#!lua flags=a\rb\nreturn 1" 0
} {error {ERR Unexpected flag in script shebang: a}}
check "#!lua with quoted flags" {typed EVAL_RO "#!lua \"flags=no-writes\"\nreturn 1" 0} {int 1}
check "#!lua with flags in single quotes" {typed EVAL_RO "#!lua flags='no-writes'\nreturn 1" 0} {int 1}
check "#!lua with an unbalanced quote" {
    typed EVAL "#!lua \"flags=no-writes\nreturn 1" 0
} {error {ERR Invalid engine in script shebang}}
check "#!lua and a NUL" {typed EVAL "#!lua\x00\nreturn 1" 0} {error {ERR Invalid script shebang}}
check "#!lua name=xnreturn 1" {typed EVAL "#!lua name=x\nreturn 1" 0} {error {ERR Unknown lua shebang option: name=x}}
check "#!nosuchnreturn 1" {
    typed EVAL "#!nosuch\nreturn 1" 0
} {error {ERR Unexpected engine in script shebang: #!nosuch}}
check "#!nreturn 1" {typed EVAL "#!\nreturn 1" 0} {error {ERR Unexpected engine in script shebang: #!}}
check "#!lua" {typed EVAL "#!lua" 0} {error {ERR Invalid script shebang}}
check "# not luanreturn 1" {
    typed EVAL "# not lua\nreturn 1" 0
} {error {ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'}}
check "#!lua flags=no-writesnreturn redis.call('SET', 'k', 'v')" {
    typed EVAL "#!lua flags=no-writes\nreturn redis.call('SET', 'k', 'v')" 0
} [raised 2 c0eaadc4edb23ce4dcd2827f79ea3f313be42ecd {ERR Write commands are not allowed from read-only scripts.}]
check "EVAL_RO #!luanreturn 1" {
    typed EVAL_RO "#!lua\nreturn 1" 0
} {error {ERR Can not execute a script with write flag using *_ro command.}}
check "EVAL_RO #!lua flags=no-writesnreturn 1" {typed EVAL_RO "#!lua flags=no-writes\nreturn 1" 0} {int 1}
check "EVAL_RO return redis.call('SET', 'k', 'v')" {
    typed EVAL_RO {return redis.call('SET', 'k', 'v')} 0
} [raised 1 5c4d62f4e30c54fb15935b5892148e5ce7374077 {ERR Write commands are not allowed from read-only scripts.}]
check "EVAL_RO return redis.call('PUBLISH', 'c', 'v')" {
    typed EVAL_RO {return redis.call('PUBLISH', 'c', 'v')} 0
} [raised 1 af6e38101a6d72e78f8cc8bca43a4339c0925295 {ERR Write commands are not allowed from read-only scripts.}]
check_in 2 "EVAL_RO return redis.call('GET', 'k')" {typed EVAL_RO {return redis.call('GET', 'k')} 0} nil
check_in 3 "EVAL_RO return redis.call('GET', 'k')" {typed EVAL_RO {return redis.call('GET', 'k')} 0} null
check "EVALSHA_RO 66e8d5ca3d07ea71d1c5ed1d7d3aef7b7a1d6ef1" {
    r SCRIPT LOAD {return redis.call('SET', 'k', 'v')}; typed EVALSHA_RO 66e8d5ca3d07ea71d1c5ed1d7d3aef7b7a1d6ef1 0
} {error {NOSCRIPT No matching script. Please use EVAL.}}

# --- SCRIPT

check "SCRIPT LOAD return 2" {typed SCRIPT LOAD {return 2}} {bulk 7f923f79fe76194c868d7e1d0820de36700eb649}
check "SCRIPT LOAD #!lua flags=zznreturn 1" {
    typed SCRIPT LOAD "#!lua flags=zz\nreturn 1"
} {error {ERR Unexpected flag in script shebang: zz}}
check "SCRIPT LOAD bad bad" {
    typed SCRIPT LOAD {bad bad}
} {error {ERR Error compiling script (new function): user_script:1: '=' expected near 'bad'}}
check "SCRIPT EXISTS a 7F923F79fe76194c868d7e1d0820de36700eb649" {
    r SCRIPT LOAD {return 2}; typed SCRIPT EXISTS a 7F923F79fe76194c868d7e1d0820de36700eb649
} {array {{int 0} {int 1}}}
check "SCRIPT EXISTS 7f923f79fe76194c868d7e1d0820de36700eb649" {
    r EVAL {return 2} 0; typed SCRIPT EXISTS 7f923f79fe76194c868d7e1d0820de36700eb649
} {array {{int 1}}}
check "SCRIPT EXISTS 7f923f79fe76194c868d7e1d0820de36700eb649" {
    r EVAL {return 2} 0; r SCRIPT FLUSH; typed SCRIPT EXISTS 7f923f79fe76194c868d7e1d0820de36700eb649
} {array {{int 0}}}
check "SCRIPT EXISTS 7f923f79fe76194c868d7e1d0820de36700eb649" {
    r SCRIPT LOAD {return 2}; r SCRIPT FLUSH SYNC; typed SCRIPT EXISTS 7f923f79fe76194c868d7e1d0820de36700eb649
} {array {{int 0}}}
check "SCRIPT EXISTS 7f923f79fe76194c868d7e1d0820de36700eb649" {
    r SCRIPT LOAD {return 2}; r SCRIPT FLUSH ASYNC; typed SCRIPT EXISTS 7f923f79fe76194c868d7e1d0820de36700eb649
} {array {{int 0}}}
check "SCRIPT FLUSH nosuch" {typed SCRIPT FLUSH nosuch} {error {ERR SCRIPT FLUSH only support SYNC|ASYNC option}}
check "SCRIPT FLUSH ASYNC SYNC" {
    typed SCRIPT FLUSH ASYNC SYNC
} {error {ERR SCRIPT FLUSH only support SYNC|ASYNC option}}
check "SCRIPT KILL" {typed SCRIPT KILL} {error {NOTBUSY No scripts in execution right now.}}
check "SCRIPT DEBUG NO" {typed SCRIPT DEBUG NO} {simple OK}
check "SCRIPT DEBUG nosuch" {typed SCRIPT DEBUG nosuch} {error {ERR Use SCRIPT DEBUG YES/SYNC/NO}}
check "SCRIPT nosuch" {typed SCRIPT nosuch} {error {ERR unknown subcommand 'nosuch'. Try SCRIPT HELP.}}
check "SCRIPT SHOW returns the text" {
    set sha [r SCRIPT LOAD {return 2}]
    list [r SCRIPT SHOW $sha] [r SCRIPT SHOW [string toupper $sha]]
} {{return 2} {return 2}}
check_error "SCRIPT SHOW of no script" {r SCRIPT SHOW abc} "NOSCRIPT No matching script."
foreach mode {YES SYNC} {
    check_error "SCRIPT DEBUG $mode: there is no debugger" [list r SCRIPT DEBUG $mode] \
        "ERR This server has no debugger for scripts"
}
check "SCRIPT HELP names every subcommand" {
    set help [r SCRIPT HELP]
    lmap name {DEBUG EXISTS FLUSH KILL LOAD SHOW HELP} {expr {[lsearch -glob $help $name*] >= 0}}
} {1 1 1 1 1 1 1}
check "redis and server are the same table" {
    list [r EVAL {return server.call('PING')} 0] [r EVAL {return server.SERVER_NAME} 0] \
        [r EVAL {return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM}} 0]
} {PONG redis {8.10.0 526848}}
check "scripts have cjson, cmsgpack, struct and bit" {
    r EVAL {
        local value = cjson.decode(ARGV[1])
        return {cjson.encode(value), cmsgpack.unpack(cmsgpack.pack('x')), struct.unpack('>I2', struct.pack('>I2', 7)),
                bit.band(6, 3)}
    } 0 {{"a/b":[1,{}]}}
} {{{"a\/b":[1,{}]}} x 7 2}
check "redis.log writes to the log" {
    r EVAL {redis.log(redis.LOG_WARNING, 'from a script', 12, nil, 'end')} 0
    r EVAL {redis.log(redis.LOG_DEBUG, 'not this')} 0
    wait_until {[string match "*# from a script 12 end\n*" [$::current_server log]]}
    string match "*not this*" [$::current_server log]
} 0

finish
