import { blocksOf } from '#shared/chains/chain-figures.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { ChainDefinition, Depth } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { ASSET_IDS, type AssetId, type Family, type NetworkId } from '#shared/domain/enumerations.ts'

/** Text of a page per asset and of their index, by path below `docs/`. */
export function assetPages(): ReadonlyMap<string, string> {
  const pages = new Map(ASSET_IDS.map((id) => [`assets/${id}.md`, assetPage(id)]))
  pages.set('assets/README.md', index())
  return pages
}

const chainOf = (id: AssetId): ChainDefinition => CHAINS[id.slice(id.indexOf('_') + 1) as NetworkId]
const symbolOf = (id: AssetId): string => id.slice(0, id.indexOf('_')).toUpperCase()

function index(): string {
  const rows = ASSET_IDS.map((id) => {
    const { name } = chainOf(id)
    return `| [\`${id}\`](${id}.md) | ${symbolOf(id)} | ${name} | ${ASSETS[id].decimals} | ${confirmation(chainOf(id))} | ${waitOf(chainOf(id))} |`
  })
  return `# Assets

Each page says how an asset is watched, what confirms a payment in it, and what is known not to work. The base figure is that of an
ordinary invoice; the pages have the figures by value.

| asset | symbol | network | decimals | base figure | takes about |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}

function assetPage(id: AssetId): string {
  const asset = ASSETS[id]
  const chain = chainOf(id)
  const facts = FAMILY_FACTS[chain.family]
  const token = asset.contract !== null
  const lookAlikes = chain.siblings.map(({ symbol, contract }) => `* ${symbol}: \`${contract}\``).join('\n')
  return `# ${symbolOf(id)} on ${chain.name} (\`${id}\`)

${asset.name}${token ? `, the token \`${asset.contract}\`. Its contract alone identifies it; a symbol proves nothing.` : `, the network's native coin.`}

| | |
|---|---|
| decimals | ${asset.decimals}; amounts due are rounded up to ${asset.displayDecimals} |
| smallest invoice | ${asset.minimum} ${symbolOf(id)} |
| rest | after a part payment at least ${asset.dust} ${symbolOf(id)} is asked for; as much too much is *paid*, and less than that short is *paid* as well (\`underpaid_accepted\`), up to 5 % of the price |
| dust | below ${asset.dust} ${symbolOf(id)}, or 0.1 % of what is due: shown, not counted, no event |
| base figure | ${confirmation(chain)}, about ${waitOf(chain)} |
| reorganisations followed | ${durationText(chain.reorganisation.ms)} (${blocks(chain, chain.reorganisation)} blocks); a deeper one halts the scanner and asks a person |
| pace | a block every ${paceText(chain)}${chain.finalizesAfterMs === null ? '' : `, final after about ${durationText(chain.finalizesAfterMs)}`}; compared ${chain.checked.on} with ${chain.checked.source} |
| wallets | ${facts.wallets} |

## How it is watched

${token ? facts.token : coinText(chain)}

## What confirms a payment

${facts.confirms}

${chain.risk}

By default the value of the invoice decides, in US dollars by the rate that prices it. Counts and times are those of the pace above; the scanner
measures the pace of the chain, and where that differs by more than 30 % the counts of new invoices follow it, so that the time stays, and never
below ${chain.confirmations.blocksMin} ${chain.confirmations.blocksMin === 1 ? 'block' : 'blocks'} for the base figure:

| value of the invoice | confirmed by | takes about |
|---|---|---|
${chain.confirmationTiers.map((_, index) => tierRow(chain, index)).join('\n')}

A workspace may set its own figure or table, and an installation one figure for the network, which then holds for every value. What is asked
for is frozen on the invoice when the asset is locked, and the payer sees it. Where the value is not known, the last row holds.

## What to know

${[...facts.limits, ...(token ? facts.tokenLimits : facts.coinLimits), ...ownLimits(chain)].map((line) => `* ${line}`).join('\n')}
${lookAlikes === '' ? '' : `\nTokens that payers mistake for supported ones are recorded and shown to operators, never credited:\n\n${lookAlikes}\n`}`
}

function coinText(chain: ChainDefinition): string {
  const facts = FAMILY_FACTS[chain.family]
  if (chain.family !== 'evm') return facts.coin
  const calls =
    chain.logsCoins === true
      ? `${chain.name} logs every transfer of its native coin, also in contract calls, and Paymesh reads these logs.`
      : 'Coins that contracts pay inside calls, and those that arrive outside transactions (validator withdrawals, coinbase tips), show as an increase of the balance in a block: one payment for each address and block, without sender and transaction, for the addresses of invoices until a day after their deadline.'
  return `${facts.coin} ${calls}`
}

function ownLimits(chain: ChainDefinition): readonly string[] {
  const { outputs } = chain
  if (outputs === undefined) return []
  return [
    `A miner's own reward counts after ${outputs.coinbaseMaturity} blocks only.`,
    ...(outputs.mweb
      ? ['Confidential (MWEB) coins are detected when they leave the extension block to an ordinary address.']
      : []),
    ...(outputs.auxPow
      ? ['Blocks carry the proof of work of another chain; Paymesh skips it because the node has checked it.']
      : []),
  ]
}

function tierRow(chain: ChainDefinition, index: number): string {
  const { confirmationTiers, blockTimeMs, finalizesAfterMs, confirmsByFinality } = chain
  const tier = confirmationTiers[index]
  const next = confirmationTiers[index + 1]
  if (tier === undefined) return ''
  const usd = (value: number) => `${value.toLocaleString('en-US')} USD`
  const range =
    next === undefined
      ? tier.fromUsd === 0
        ? 'any'
        : `from ${usd(tier.fromUsd)}`
      : tier.fromUsd === 0
        ? `below ${usd(next.fromUsd)}`
        : `${usd(tier.fromUsd)} to below ${usd(next.fromUsd)}`
  const count = blocks(chain, tier.confirmations === 'finalized' ? chain.confirmations : tier.confirmations)
  const isFinal = tier.confirmations === 'finalized' || confirmsByFinality
  const what = `${count} ${count === 1 ? 'confirmation' : 'confirmations'}${isFinal ? ', in a final block' : ''}`
  return `| ${range} | ${what} | ${durationText(Math.max(count * blockTimeMs, isFinal ? (finalizesAfterMs ?? 0) : 0))} |`
}

function confirmation(chain: ChainDefinition): string {
  const count = blocks(chain, chain.confirmations)
  const text = `${count} ${count === 1 ? 'confirmation' : 'confirmations'}`
  return chain.confirmsByFinality ? `${text}, in a final block` : text
}

function waitOf(chain: ChainDefinition): string {
  const finalMs = chain.confirmsByFinality ? (chain.finalizesAfterMs ?? 0) : 0
  return durationText(Math.max(blocks(chain, chain.confirmations) * chain.blockTimeMs, finalMs))
}

const blocks = (chain: ChainDefinition, depth: Depth): number => blocksOf(depth, chain, null)

const paceText = ({ blockTimeMs }: ChainDefinition): string =>
  blockTimeMs < 1_000 ? `${blockTimeMs} ms` : `${blockTimeMs / 1_000} s`

function durationText(ms: number): string {
  const seconds = ms / 1_000
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}

/** Facts for the pages of all assets of a family. Sentences; Markdown is allowed. */
interface FamilyFacts {
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
const FAMILY_FACTS: Readonly<Record<Family, FamilyFacts>> = {
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
