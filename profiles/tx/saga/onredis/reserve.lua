-- One call of a tcc branch at a participant: try, confirm or cancel, once, whatever
-- is sent twice. A try that takes money freezes it: what is frozen is beside the
-- balance in a field of its own, which goes with its last unit. The ledger has what
-- a call did to both together, and to what is frozen.
-- KEYS balances ledger; ARGV account amount field op try ttl
-- 0: done; 1: refused; 2: a duplicate; 3: nothing to cancel; 4: too late.
local call, args, balances, ledger = redis.call, ARGV, KEYS[1], KEYS[2]
local account, amount, field, op = args[1], tonumber(args[2]), args[3], args[4]
local ttl, ice = args[6], 'f' .. args[1]
local there = call('HGET', ledger, field)
if there then return there == 'null' and 4 or 2 end
if op == 'cancel' and call('HSETNX', ledger, args[5], 'null') == 1 then
  call('HSET', ledger, field, 'null:' .. call('HLEN', ledger))
  call('EXPIRE', ledger, ttl)
  return 3
end
local worth, frozen = 0, 0
if op == 'try' then
  local have = call('HGET', balances, account)
  if not have or have + amount < 0 then return 1 end
  if amount < 0 then
    call('HINCRBY', balances, account, amount)
    frozen = -amount
  end
elseif amount < 0 then
  frozen = amount
  if op == 'confirm' then worth = amount else call('HINCRBY', balances, account, -amount) end
elseif op == 'confirm' then
  call('HINCRBY', balances, account, amount)
  worth = amount
end
if frozen ~= 0 and call('HINCRBY', balances, ice, frozen) == 0 then call('HDEL', balances, ice) end
call('HSET', ledger, field, string.format('%s:%.0f:%.0f:%d', account, worth, frozen, call('HLEN', ledger) + 1))
call('EXPIRE', ledger, ttl)
return 0
