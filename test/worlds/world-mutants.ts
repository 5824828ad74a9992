import type { Mutant } from '#test/simulation/mutants/mutant.ts'

/** Bugs of reading EVM accounts, each of which random histories must find. */
export const WORLD_MUTANTS: readonly Mutant[] = [
  {
    name: 'failed-payments',
    file: 'shared/chains/families/evm/receipts.ts',
    find: "if (receipt.status === '0x1') kept.push(transfer)",
    replace: 'kept.push(transfer)',
    what: 'A direct payment that failed in its block is credited.',
  },
  {
    name: 'own-gas',
    file: 'shared/chains/families/evm/receipts.ts',
    find: 'spentBase: spentBase + fee + (leaves ? BigInt(value) : 0n),',
    replace: 'spentBase: spentBase + (leaves ? BigInt(value) : 0n),',
    what: 'Fees that an account pays make coins that came inside of calls smaller.',
  },
  {
    name: 'own-sweep',
    file: 'shared/chains/families/evm/receipts.ts',
    find: 'spentBase: spentBase + fee + (leaves ? BigInt(value) : 0n),',
    replace: 'spentBase: spentBase + fee,',
    what: 'Coins that an account sends away hide coins that came inside of calls.',
  },
  {
    name: 'equal-increases',
    file: 'shared/usecases/scanning/balance-increase-transfers.ts',
    find: 'const isFree = (ordinal: number): boolean => !taken.has(keyOf(ordinal))',
    replace: 'const isFree = (): boolean => true',
    what: 'Two equal increases of one account are one payment.',
  },
  {
    name: 'collected-tokens',
    file: 'shared/chains/families/evm/accounts.ts',
    find: 'const received = await tools.logs.read(node, range)',
    replace: 'const received: readonly Log[] | null = null',
    what: 'Tokens are found by figures alone: what a collector takes between two looks is lost.',
  },
  {
    name: 'unread-senders',
    file: 'shared/chains/families/evm/accounts.ts',
    find: 'holdings.sent(node, senders, toQuantity(height))',
    replace: 'holdings.sent(node, senders.slice(senders.length), toQuantity(height))',
    what: 'Nonces are not compared: coins that come and leave by the key of the account are lost.',
  },
  {
    name: 'unread-code',
    file: 'shared/chains/families/evm/holdings.ts',
    find: 'hasCode: coin >= HAS_CODE',
    replace: 'hasCode: coin < 0n',
    what: 'Coins that code moves on between two looks are missing, and nobody is told.',
  },
  {
    name: 'figures-of-another-end',
    file: 'shared/usecases/scanning/thrifty-range.ts',
    find: 'figures.set(end.hash, found.state)',
    replace: 'figures.set(end.hash, found.start)',
    what: 'Coins that came inside of calls are not stored before the proof of a deadline.',
  },
  {
    name: 'replaced-blocks',
    // A step back takes payments back, and so does reading the blocks above it: the bug is in what both write.
    file: 'shared/db/payments/payment-scan-writes.ts',
    find: "ORPHANED = { state: 'orphaned', block: null,",
    replace: 'ORPHANED = { block: null,',
    what: 'Payments of blocks that others replaced count on.',
  },
  {
    name: 'words-for-gone',
    file: 'shared/chains/families/evm/rpc-failure.ts',
    find: '/missing trie node|historical (state|data)|state\\b[^.]* (is not|un|not )\\s?available|',
    replace: '/historical (state|data)|',
    what: 'A state that is gone is asked for again and again.',
  },
]
