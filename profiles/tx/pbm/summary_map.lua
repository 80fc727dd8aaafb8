-- One group's transaction where each map is one hash: adds up the group's members,
-- whose fields the caller names, and writes its summary.
-- KEYS profile-map eligibility-map summary; ARGV group filling member…
-- A filling of - leaves what is there, an empty one takes it away.
-- Members and bytes, or nothing when the group has no profile.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return false end
local count, size = 0, 0
for i = 3, #ARGV do
  local n = redis.call('HSTRLEN', KEYS[2], ARGV[i])
  if n > 0 or redis.call('HEXISTS', KEYS[2], ARGV[i]) == 1 then
    count = count + 1
    size = size + n
  end
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
