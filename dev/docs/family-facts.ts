import type { Family } from '#shared/domain/enumerations.ts'

/** Facts for the pages of all assets of a family. Sentences; Markdown is allowed. */
export interface FamilyFacts {
  readonly wallets: string
  /** How the native coin is watched. */
  readonly coin: string
  /** How a token is watched; empty where there are no tokens. */
  readonly token: string
  readonly confirms: string
  readonly limits: readonly string[]
  readonly coinLimits: readonly string[]
  readonly tokenLimits: readonly string[]
}

const CHOSEN_SCRIPT =
  'The script type follows from the spelling of the key (`zpub`: native SegWit; `ypub`, `Mtub`: nested SegWit). `xpub` and `Ltub` do not say it: a person chooses by the first address of each.'
const UNSPENT_ONLY =
  'Earlier use of a key is searched in the unspent outputs of the node: addresses whose coins were all spent are not found, and a start index is needed then.'
const NO_SEARCH =
  'Earlier use of a key cannot be searched: Dogecoin Core 1.14 has no `scantxoutset`. A start index is needed.'
const STATE_ONLY =
  'Earlier use of a key is searched in the state of the node: coins, accepted tokens and sent transactions. Accounts emptied by others, with an approval or a permit, are not found.'

const outputs = (node: string, keys: string, keyLimits: readonly string[]): FamilyFacts => ({
  wallets: `extended public key (${keys}), a fresh address for each invoice`,
  coin: `Whole blocks are read from ${node} and every output is compared with the addresses that are watched, so nothing depends on the node's own wallet or index. The mempool is polled as well: a payment is *detected* within seconds.`,
  token: '',
  confirms:
    'Blocks on top of the transaction’s block, counted on the scanned chain, never on a height that a node merely reports.',
  limits: [
    'A transaction in the mempool is only detected. Replaced by fee (BIP 125), double spent or dropped, it is shown as such and its invoice steps back.',
    'While a node reads its mempool again after a restart nothing is concluded from what is missing there, and no deadline of the network passes. A node that does not say when it is done (`getmempoolinfo.loaded`; Dogecoin Core 1.14) is given ten minutes.',
    'Two outputs of one transaction to one address are two payments.',
    ...keyLimits,
    'Addresses are derived without hardening. The extended public key and one child private key together reveal the parent private key: use a separate account for this.',
    'The gap of unused addresses is shown beside the wallet, with how to set the same gap in the wallet program.',
  ],
  coinLimits: [],
  tokenLimits: [],
})

/** By family, as far as its assets do not differ. */
export const FAMILY_FACTS: Readonly<Record<Family, FamilyFacts>> = {
  bitcoin: outputs('Bitcoin Core', 'xpub, ypub or zpub', [CHOSEN_SCRIPT, UNSPENT_ONLY]),
  litecoin: outputs('Litecoin Core', 'Ltub, Mtub, xpub or zpub', [CHOSEN_SCRIPT, UNSPENT_ONLY]),
  dogecoin: outputs('Dogecoin Core', 'dgub or xpub', [NO_SEARCH]),
  evm: {
    wallets:
      'extended public key (xpub, one for all five EVM networks), a pool of addresses, or one address with amounts that differ',
    coin: 'Blocks are read whole; a native transfer counts when its transaction succeeded.',
    token:
      "`Transfer` logs of exactly this contract are asked for block by block. An empty answer is held against the block's own bloom filter, ranges that a node refuses are split, and minted tokens count like sent ones.",
    confirms:
      'Blocks on top of the transfer’s block, counted on the scanned chain. The policy may require *finalized* instead: then the node’s tag decides. A second node, where one is configured, must show the same transfer with the same amount, receiver and token.',
    limits: [
      'All five EVM networks share one form of address: a payment on the wrong one still arrives at the merchant and is shown to operators as *wrong network*, never credited automatically.',
      'A single node cannot be verified: configure two nodes of different providers.',
      STATE_ONLY,
    ],
    coinLimits: [
      'Where internal transfers are detected from balances, several of them to one address in one block are one payment of their sum.',
      'A rescan of old blocks reads no balances.',
    ],
    tokenLimits: [
      'Look-alike tokens, transfers of zero and address poisoning are ignored.',
      "A token's issuer may freeze it; a frozen payment stays a payment.",
    ],
  },
  tron: {
    wallets: 'extended public key (xpub), a pool of addresses, or one address with amounts that differ',
    coin: 'Blocks and the results of their transactions are read from the full node (`getblockbynum`, `gettransactioninfobyblocknum`): transfers of TRX, and TRX moved inside of contract calls that succeeded.',
    token:
      "Logs of exactly this contract come with the results of each block's transactions; what a failed contract logged does not count.",
    confirms: 'The block is solid: 19 of the 27 producers built on it. Solid blocks are never rolled back.',
    limits: [
      'An address that never received anything must first be activated by its first transfer, which costs the sender about 1 TRX; pools of warm addresses avoid that.',
      STATE_ONLY,
    ],
    coinLimits: [
      'TRX sent by a contract is visible on nodes with `vm.saveInternalTx`. Which further records a node keeps (`vm.saveFeaturedInternalTx`) makes no difference.',
    ],
    tokenLimits: [
      'Exchanges often deduct their fee from the amount; a tolerance in the settings of the workspace absorbs that.',
    ],
  },
  solana: {
    wallets: 'a pool of public keys, or one address with amounts that differ and a Solana Pay reference',
    coin: 'Blocks are read in accounts mode: the balances of each watched account before and after each transaction show what arrived, whichever program moved it. Failed transactions are skipped, and skipped slots are not a gap.',
    token:
      'Balances of token accounts before and after each transaction are summed by owner and mint. Only this mint counts; the same name under Token-2022 is another token.',
    confirms:
      'The slot is finalized. Since Alpenglow (2026-10-21) `confirmed` and `finalized` are the same there, about 150 ms after the block; elsewhere `confirmed` is only detected.',
    limits: [
      'Keys on Ed25519 have no public derivation, so an extended public key is not possible: addresses come from a pool.',
      'Two payments in one transaction are distinguished only by their Solana Pay references.',
    ],
    coinLimits: [
      'Lamports returned from a closed token account of the receiver (its rent and wrapped SOL) are not a payment.',
      'An empty account must receive the rent-exempt minimum, or the network refuses the transfer: 0.00065 SOL since September 2026, and less with each further step of SIMD-0437.',
    ],
    tokenLimits: [
      "Sent to a plain wallet address, a token lands in that owner's associated token account, which the payer's wallet creates.",
    ],
  },
}
