-- Changes a transaction's status; a final one takes it out of the index and
-- shortens how long it is kept.
-- KEYS record rows index status; ARGV ttl record expected final gid status finalttl
-- 0: changed; 2: the status is another one.
if redis.call('GET', KEYS[4]) ~= ARGV[3] then return 2 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[1])
redis.call('SET', KEYS[4], ARGV[6], 'EX', ARGV[1])
if ARGV[4] == '1' then
  redis.call('ZREM', KEYS[3], ARGV[5])
  redis.call('EXPIRE', KEYS[1], ARGV[7])
  redis.call('EXPIRE', KEYS[2], ARGV[7])
  redis.call('EXPIRE', KEYS[4], ARGV[7])
end
return 0
