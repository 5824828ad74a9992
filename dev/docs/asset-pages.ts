import { blocksOf } from '#shared/chains/chain-figures.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import type { ChainDefinition, Depth } from '#shared/chains/definitions/chain.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { ASSET_IDS, type AssetId, type NetworkId } from '#shared/domain/enumerations.ts'
import { FAMILY_FACTS } from './family-facts.ts'

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
