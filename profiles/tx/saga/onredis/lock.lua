-- Takes the unfinished transaction that is due longest and leases it. One whose
-- record is gone is taken out of the index.
-- KEYS index; ARGV now lease
-- The gid, or nothing when none is due.
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if #first == 0 or tonumber(first[2]) > tonumber(ARGV[1]) then return false end
redis.call('ZADD', KEYS[1], ARGV[2], first[1])
return first[1]
