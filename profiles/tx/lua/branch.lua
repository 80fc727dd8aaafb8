-- Writes branch rows from a position on, while the transaction has a status.
-- KEYS record rows index status; ARGV ttl expected position row...
-- 0: written; 2: the status is another one.
if redis.call('GET', KEYS[4]) ~= ARGV[2] then return 2 end
for i = 4, #ARGV do redis.call('LSET', KEYS[2], ARGV[3] + i - 4, ARGV[i]) end
redis.call('EXPIRE', KEYS[2], ARGV[1])
return 0
