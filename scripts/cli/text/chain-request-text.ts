import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import type { AppRouter } from '#services/admin/app-router.ts'
import type { ChainPlan, RescanEffect, RescanPreview } from '#shared/contracts/chain-commands.ts'
import { table } from './output.ts'

type Chains = inferRouterOutputs<AppRouter>['chains']
type Inputs = inferRouterInputs<AppRouter>['chains']
type Command = Chains['cancel']['cancelled'][number]

const EFFECTS: Readonly<Record<RescanEffect, string>> = {
  added: 'not stored, would be added',
  returned: 'gone, would be restored',
  moved: 'would move to this block',
  other_amount: 'mined with another amount, receiver or token, would be added',
  replaced: 'would be replaced: another transaction spends its coins',
  taken_back: 'would be reversed: its block is gone',
  contradicts: 'this block has a different amount than stored: the scanner would stop here',
}

/** A request to a scanner, and how far it is. */
export function commandText({ kind, from, to, status, outcome, nextHeight, changed, id }: Command): string {
  const range = `${from === null ? '' : ` from ${from}`}${to === null ? '' : ` to ${to}`}`
  if (status !== 'open') return `${kind}${range} is ${status}: ${outcome}`
  const progress = nextHeight === null ? '' : `, next block ${nextHeight}, ${changed} payments so far`
  return `${kind}${range} is open${progress} (${id})`
}

/** What a request is about, and how far it is. */
export function requestText({ plan, command }: Chains['request']): string {
  // Only the resume of a scanner that is not halted stores nothing.
  if (command === null) return `${rangeText(plan)} There is nothing to resume.`
  const hint = command.status === 'open' ? '. A running scanner starts it; `chain status` shows its progress.' : ''
  return `${rangeText(plan)}\n${commandText(command)}${hint}`
}

/** What a request would do. */
export function planText({ plan, preview, standing }: Chains['plan'], { kind }: Inputs['plan']): string {
  if (kind === 'resume' && plan.status !== 'halted') return `${rangeText(plan)} There is nothing to resume.`
  const effects = preview === null ? [] : [previewText(preview)]
  const open = standing === null ? [] : [commandText(standing)]
  return [rangeText(plan), ...effects, 'This was a dry run: no request was made.', ...open].join('\n')
}

function rangeText({ from, to, height, status, livePayments, confirmedPayments }: ChainPlan): string {
  return from === null || to === null
    ? `The scanner is at block ${height} and is ${status === 'halted' ? 'halted' : 'not halted'}.`
    : `Blocks ${from} to ${to} (${to - from + 1}) contain ${livePayments} stored payments, ${confirmedPayments} confirmed.`
}

function previewText({ blocks, known, effects, changes }: RescanPreview): string {
  const rows = changes.map(({ effect, height, amount, invoiceId, txHash }) => [
    String(height ?? '-'),
    amount,
    invoiceId === null ? 'exceptions' : `invoice ${invoiceId}`,
    EFFECTS[effect],
    txHash ?? '-',
  ])
  const total = Object.values(effects).reduce((sum, count) => sum + count, 0)
  const lead = `${blocks} blocks read: ${known} payments unchanged, ${total} would change.`
  const more = total > changes.length ? `\n… and ${total - changes.length} more` : ''
  const head = ['BLOCK', 'AMOUNT', 'FOR', 'WHAT', 'TRANSACTION']
  return total === 0 ? lead : `${lead}\n${table(head, rows, '')}${more}`
}

/** The requests that were cancelled, and those for which it was too late. */
export const cancelText = (output: Chains['cancel'], input: Inputs['cancelPlan']): string =>
  cancelLines(output, input, '')
/** The same before anything is cancelled. */
export const cancelPlanText: typeof cancelText = (output, input) => cancelLines(output, input, 'would be cancelled: ')

function cancelLines({ cancelled, tooLate }: Chains['cancel'], input: Inputs['cancelPlan'], lead: string): string {
  const { mode, network } = input
  if (cancelled.length + tooLate.length === 0)
    return `no request is open for ${network} in ${mode} mode; no changes were made`
  const done = cancelled.map((one) => `${lead}${commandText(one)}`)
  return [...done, ...tooLate.map((one) => `too late to cancel: ${commandText(one)}`)].join('\n')
}

/** How far a release of deadlines went. */
export function releaseText({ plan, changed }: Chains['releaseDeadlines']): string {
  const through = iso(plan.through)
  return changed
    ? `${whereText(plan)}\nReleased up to ${through}: ${invoicesText(plan)} expire within seconds. A payment found later that was sent in time still settles its invoice.`
    : `${whereText(plan)}\nNothing to release: deadlines up to ${through} have already passed.`
}

/** What a release of deadlines would do. */
export function releasePlanText(plan: Chains['releasePlan']): string {
  const { stuck, through, network } = plan
  const effect =
    stuck === null
      ? `${network} is not stuck, so its invoices expire as usual, and a release would be refused.`
      : `This was a dry run: a release up to ${iso(through)} would let ${invoicesText(plan)} expire.`
  return `${whereText(plan)}\n${effect}`
}

const whereText = ({ network, mode, height, stuck, passedUntil }: Chains['releasePlan']): string =>
  `${mode} ${network} is at block ${height}.${stuck === null ? '' : ` ${stuck.sentence}`} Deadlines up to ${iso(passedUntil)} have already passed.`

const invoicesText = ({ waiting }: Chains['releasePlan']): string =>
  waiting === 1 ? '1 open invoice' : `${waiting} open invoices`

const iso = (at: number): string => new Date(at).toISOString()
