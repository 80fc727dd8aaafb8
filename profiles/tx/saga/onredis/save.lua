-- Saves a new transaction: record, status, index entry and branch rows.
-- KEYS record rows index status; ARGV ttl record score gid status row...
-- 0: saved; 1: the gid is taken.
local call, args, rows, ttl = redis.call, ARGV, KEYS[2], ARGV[1]
local record, status = KEYS[1], KEYS[4]
if call('GET', record) then return 1 end
call('SET', record, args[2], 'EX', ttl)
call('SET', status, args[5], 'EX', ttl)
call('ZADD', KEYS[3], args[3], args[4])
for i = 6, #args do call('RPUSH', rows, args[i]) end
call('EXPIRE', rows, ttl)
return 0
