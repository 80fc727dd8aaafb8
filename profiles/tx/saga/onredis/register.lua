-- Appends the rows of a branch, while the transaction has a status and as many rows
-- as its owner knows of.
-- KEYS record rows index status; ARGV ttl expected count row...
-- 0: written; 1: there are other rows; 2: the status is another one.
local call, args, rows = redis.call, ARGV, KEYS[2]
if call('GET', KEYS[4]) ~= args[2] then return 2 end
if call('LLEN', rows) ~= tonumber(args[3]) then return 1 end
for i = 4, #args do call('RPUSH', rows, args[i]) end
call('EXPIRE', rows, args[1])
return 0
