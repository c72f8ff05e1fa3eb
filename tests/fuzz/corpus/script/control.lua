local c = coroutine.create(function(...) local a = coroutine.yield(...) error({a}) end)
local ok, e = coroutine.resume(c, 1, 2)
repeat ok, e = coroutine.resume(c, 3) until not ok or coroutine.status(c) == 'dead'
local f = loadstring('local a, b = ... return a + b') or load(function() return nil end)
return pcall(f, 1, 2), xpcall(f, function(m) return m .. '!' end), math.random(1, 7), bit.bor(1, 2)
