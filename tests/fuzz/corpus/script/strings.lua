local s = ('a1 b2 c3'):rep(3)
for w, d in s:gmatch('(%a)(%d)') do s = s .. w:upper() .. d end
local n = select(2, s:gsub('%f[%w]%w+', function(w) return w:reverse() end))
return s:find('b2', 1, true), s:match('^(.-)%s*$'), n, string.format('%5.2f %q %s', 1.5, s, {})
