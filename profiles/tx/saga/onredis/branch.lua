-- Writes branch rows from a position on, while the transaction has a status.
-- KEYS record rows index status; ARGV ttl expected position row...
-- 0: written; 2: the status is another one.
local call, args, rows = redis.call, ARGV, KEYS[2]
if call('GET', KEYS[4]) ~= args[2] then return 2 end
call('LSET', rows, args[3], args[4])
for i = 5, #args do call('LSET', rows, args[3] + i - 4, args[i]) end
call('EXPIRE', rows, args[1])
return 0
