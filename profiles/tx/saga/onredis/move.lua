-- One branch call at a participant: moves money once, whatever is sent twice. The
-- duplicate is looked for before the balance, so that repeating a debit that was
-- done does not fail because the money is spent by now.
-- KEYS balances ledger; ARGV account amount field counterpart ttl
-- 0: done; 1: refused; 2: a duplicate; 3: nothing to undo; 4: too late.
local call, args, balances, ledger = redis.call, ARGV, KEYS[1], KEYS[2]
local account, amount, field, counterpart, ttl = args[1], args[2], args[3], args[4], args[5]
local there = call('HGET', ledger, field)
if there then return there == 'null' and 4 or 2 end
if counterpart ~= '' and call('HSETNX', ledger, counterpart, 'null') == 1 then
  call('HSET', ledger, field, 'null:' .. call('HLEN', ledger))
  call('EXPIRE', ledger, ttl)
  return 3
end
local have = call('HGET', balances, account)
if counterpart == '' and (not have or have + amount < 0) then return 1 end
call('HINCRBY', balances, account, amount)
call('HSET', ledger, field, account .. ':' .. amount .. ':' .. call('HLEN', ledger) + 1)
call('EXPIRE', ledger, ttl)
return 0
