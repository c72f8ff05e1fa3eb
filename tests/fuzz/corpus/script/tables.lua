local t = setmetatable({3, 1, 2}, {__index = function(t, k) return k end, __call = next})
table.sort(t, function(a, b) return a > b end)
table.insert(t, 1, table.remove(t))
for k, v in pairs(t) do rawset(t, v, rawget(t, k)) end
return t.x, #t, unpack(t), table.concat(t, ',', 1, 3), t()
