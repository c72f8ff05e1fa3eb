for _, t in pairs({_G, string, getmetatable(_G), getmetatable('')}) do
  pcall(setmetatable, t, {}) pcall(rawset, t, 'x', 1) pcall(function() t.x = 1 end)
  pcall(table.insert, t, 1) pcall(table.insert, t, 1, 2) pcall(table.remove, t) pcall(table.sort, t)
end
