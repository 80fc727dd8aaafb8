-- Saves a new transaction: record, status, index entry and branch rows.
-- KEYS record rows index status; ARGV ttl record score gid status row...
-- 0: saved; 1: the gid is taken.
if redis.call('GET', KEYS[1]) then return 1 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[1])
redis.call('SET', KEYS[4], ARGV[5], 'EX', ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[4])
for i = 6, #ARGV do redis.call('RPUSH', KEYS[2], ARGV[i]) end
redis.call('EXPIRE', KEYS[2], ARGV[1])
return 0
