-- Changes a transaction's status; a final one takes it out of the index and
-- shortens how long it is kept.
-- KEYS record rows index status; ARGV ttl record expected final gid status finalttl
-- 0: changed; 2: the status is another one.
local call, keys, args = redis.call, KEYS, ARGV
local record, status, ttl = keys[1], keys[4], args[1]
if call('GET', status) ~= args[3] then return 2 end
call('SET', record, args[2], 'EX', ttl)
call('SET', status, args[6], 'EX', ttl)
if args[4] == '1' then
  local short = args[7]
  call('ZREM', keys[3], args[5])
  call('EXPIRE', record, short)
  call('EXPIRE', keys[2], short)
  call('EXPIRE', status, short)
end
return 0
