-- The money of one prefix at one instant: what is on the accounts, and what
-- unfinished transactions have taken off or put on them.
-- KEYS balances index; ARGV the beginning of the ledgers' keys
local sum, flying = 0, 0
for _, v in ipairs(redis.call('HVALS', KEYS[1])) do sum = sum + v end
for _, gid in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  for _, row in ipairs(redis.call('HVALS', ARGV[1] .. gid)) do
    local amount = string.match(row, '^%d+:(-?%d+)')
    if amount then flying = flying + amount end
  end
end
return {string.format('%.0f', sum), string.format('%.0f', flying)}
