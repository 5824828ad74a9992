import type { inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#services/admin/app-router.ts'
import type { ScanPlan } from '#shared/contracts/chain-status.ts'
import type { NodeCosts, ProviderCost } from '#shared/contracts/node-costs.ts'
import { unitName } from '#shared/usecases/networks/node-costs.ts'
import { troubleSentence } from '#shared/usecases/networks/stuck-network.ts'
import { nodeNotes } from '../doctor/node-faults.ts'
import type { Installation } from '../session/installation.ts'
import { commandText } from './chain-request-text.ts'
import { factsText, factWarnings } from './fact-notes.ts'
import { table } from './output.ts'

type Chain = inferRouterOutputs<AppRouter>['chains']['list']['items'][number]

const HEAD = ['NETWORK', 'STATUS', 'BLOCK', 'HEAD', 'LAG', 'FINAL', 'NODE HEARD', 'MEMPOOL', 'LEASE']

const seconds = (ms: number | null): string => (ms === null ? '-' : `${Math.max(0, Math.round(ms / 1_000))} s`)

/** Every scanner, what keeps it, how it scans, what its nodes answer when they are asked from here, and what they cost. */
export async function chainStatusText(
  { items, ...costs }: { readonly items: readonly Chain[] } & NodeCosts,
  _input: object,
  installation: Installation,
): Promise<string> {
  const rows = items.map((one) => [
    nameOf(one),
    one.hasNode ? one.status : `${one.status}, no node`,
    String(one.height ?? '-'),
    String(one.headHeight ?? '-'),
    String(one.lagBlocks ?? '-'),
    String(one.finalizedHeight ?? '-'),
    seconds(one.headAgeMs),
    seconds(one.mempoolAgeMs),
    one.lease === null ? '-' : `${one.lease.epoch} ${one.lease.owner}${one.lease.expired ? ' (expired)' : ''}`,
  ])
  const now = installation.clock.now()
  return [
    table(HEAD, rows, 'no network is connected'),
    ...items.flatMap(notesOf),
    ...(await nodeNotes(installation, items)),
    ...items.flatMap(({ scan, ...one }) => (scan === null ? [] : scanNotes(nameOf(one), scan, now))),
    ...costLines(costs),
  ].join('\n')
}

const nameOf = ({ mode, network }: Pick<Chain, 'mode' | 'network'>): string => `${mode} ${network}`

function notesOf(one: Chain): readonly string[] {
  const { haltReason, waitReason, recheckThrough, missingTokens, height, open } = one
  const name = nameOf(one)
  const tokens = missingTokens.join(', ')
  return [
    ...stuckNotes(one),
    ...(haltReason === null ? [] : [`${name} is halted: ${haltReason}`]),
    ...(waitReason === null ? [] : [`${name} is waiting: ${waitReason}`]),
    ...(recheckThrough === null ? [] : [`${name} checks stored payments up to block ${recheckThrough}`]),
    ...(tokens === ''
      ? []
      : [`${name}: its node has no contract of ${tokens}; invoices in them are refused, other assets go on`]),
    ...(height === null ? [] : [`${name}: ${factsText(one)}`]),
    ...factWarnings(one).map((warning) => `WARNING: ${name}: ${warning}`),
    ...open.map((command) => `${name}: ${commandText(command)}`),
  ]
}

/** Why a network does not advance, and the remedy: from the first failure on, before it counts as stuck. */
function stuckNotes(one: Chain): readonly string[] {
  const { height, stuck, trouble, released, lease, hasNode } = one
  const name = nameOf(one)
  const expired = lease?.expired === true && stuck?.cause !== 'no_scanner' && hasNode
  const tries = trouble === null ? '' : ` ${trouble.tries} attempts since ${new Date(trouble.firstAt).toISOString()}.`
  return [
    ...(stuck === null || stuck.cause === 'halted'
      ? []
      : [
          `${name} is stuck at block ${height}: ${stuck.sentence}${tries} Its invoices do not expire until this is fixed. ${stuck.advice}`,
        ]),
    ...(stuck !== null || trouble === null ? [] : [`${name} is failing: ${troubleSentence(trouble)}${tries}`]),
    ...(expired
      ? [`${name}: the lease of its scanner expired; another scanner takes it within seconds if one is running`]
      : []),
    ...(released === null
      ? []
      : [`${name}: deadlines were released up to ${new Date(released.through).toISOString()} by ${released.by}`]),
  ]
}

/** How a network is scanned, for which open payment methods, and when its node is asked next; where the settings chose otherwise meanwhile, that the scanner will change. */
function scanNotes(name: string, plan: ScanPlan, now: number): readonly string[] {
  const { source, choice, nextLookAt, reason, isResting, nextLooks } = plan
  const next = nextLookAt === null ? '' : ` Next look: ${untilText(nextLookAt, now)}.`
  const others =
    nextLooks === null
      ? ''
      : ` Addresses of invoices that ended in the last day: ${untilText(nextLooks.endedAt, now)}, compared up to block ${nextLooks.endedHeight}; all addresses: ${untilText(nextLooks.allAt, now)}, compared up to block ${nextLooks.allHeight}.`
  const text = `${name} is scanned in ${source} mode${isResting ? ' and rests' : ''}, ${watchText(plan)}. ${reason}${next}${others}`
  if (choice === null) return [text]
  const change = choice.source === source ? '' : ' The scanner changes to it when it is started with these settings.'
  return [text, `${name}: the settings choose ${choice.source} mode. ${choice.why}${change}`]
}

function watchText({ open, isComplete }: ScanPlan): string {
  const sum = open.reduce((all, { methods }) => all + methods, 0)
  if (sum === 0) return 'with no open payment method'
  const names = open.map(({ asset, methods }) => `${methods} ${asset}`).join(', ')
  return `with ${isComplete ? '' : 'more than '}${sum} open payment method${sum === 1 ? '' : 's'} (${names})`
}

function untilText(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000)
  if (seconds <= 0) return 'now'
  if (seconds < 120) return `in ${seconds} s`
  return seconds < 7_200 ? `in ${Math.round(seconds / 60)} min` : `in ${Math.round(seconds / 3_600)} h`
}

const count = (value: number): string => value.toLocaleString('en')
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`
const blocks = (value: number | null): string => (value === null ? '-' : count(value))

/** Free and paid plans; `-` where nothing is stated. */
const rangeText = (range: ProviderCost['logRangeMax']): string =>
  range === null ? '-' : `${blocks(range.free)} / ${blocks(range.paid)}`

/** What nodes are asked today and this month, and how much of each quota is used. Nothing before the first stored call. */
function costLines({ providers, quotas }: NodeCosts): readonly string[] {
  const rows = providers.map(({ mode, network, provider, unit, today, month, monthEstimate, logRangeMax }) => [
    `${mode} ${network}`,
    provider,
    unitName(unit),
    count(today.calls),
    count(today.units),
    count(month.calls),
    count(month.units),
    monthEstimate === null ? '-' : count(monthEstimate),
    megabytes(month.bytes),
    rangeText(logRangeMax),
  ])
  const head = [
    ...['NETWORK', 'PROVIDER', 'UNIT', 'CALLS TODAY', 'UNITS TODAY', 'CALLS MONTH', 'UNITS MONTH'],
    ...['WHOLE MONTH', 'DATA MONTH', 'LOG BLOCKS FREE/PAID'],
  ]
  const shares = quotas.map((state) => {
    const { mode, network, used, perMonth, unit, usedShare, sentence } = state
    const share = `${Math.floor(usedShare * 100)} %`
    const figures = `${count(used)} of ${count(perMonth)} ${unitName(unit)} this month (${share})`
    const mark = state.level === 'critical' ? 'ERROR: ' : state.level === 'warning' ? 'WARNING: ' : ''
    return `${mark}${mode} ${network} quota: ${figures}${sentence === null ? '' : `. ${sentence}`}`
  })
  if (rows.length === 0) return shares
  return [
    '',
    table(head, rows, ''),
    'Units are estimated from the providers’ lists; days and months are UTC.',
    ...shares,
  ]
}
