-- Says when an unfinished transaction is to be looked at next.
-- KEYS record rows index status; ARGV ttl record expected score gid
-- 0: done; 2: the status is another one.
if redis.call('GET', KEYS[4]) ~= ARGV[3] then return 2 end
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[5])
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[1])
return 0
