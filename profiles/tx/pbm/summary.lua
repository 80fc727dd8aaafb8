-- One group's transaction: adds up its members and writes its summary.
-- KEYS profile members summary; ARGV group filling
-- A filling of - leaves what is there, an empty one takes it away.
-- Members and bytes, or nothing when the group has no profile.
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local count, size = 0, 0
for _, member in ipairs(redis.call('HKEYS', KEYS[2])) do
  count = count + 1
  size = size + redis.call('HSTRLEN', KEYS[2], member)
end
local now = redis.call('TIME')
redis.call('HSET', KEYS[3], 'groupNumber', ARGV[1], 'carrierNumber', ARGV[1], 'contractNumber', ARGV[1],
  'memberCount', count, 'totalBlobSize', size, 'writtenTime', string.format('%.0f', now[1] * 1000 + math.floor(now[2] / 1000)))
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[3], 'filling')
elseif ARGV[2] ~= '-' then
  redis.call('HSET', KEYS[3], 'filling', ARGV[2])
end
return {count, size}
