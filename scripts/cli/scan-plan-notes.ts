import type { ScanPlan } from '#shared/usecases/diagnostics/scan-plans.ts'
import type { ChainStatus } from '#shared/usecases/networks/chain-status.ts'

/** How each network is scanned, for which open payment methods, and when its node is asked next. */
export function scanPlanNotes(plans: readonly ScanPlan[], now: number): readonly string[] {
  return plans.flatMap((plan) => {
    const { id, source, nextLookAt, reason, isResting, nextLooks } = plan
    const next = nextLookAt === null ? '' : ` Next look: ${untilText(nextLookAt, now)}.`
    const others =
      nextLooks === null
        ? ''
        : ` Addresses of invoices that ended in the last day: ${untilText(nextLooks.endedAt, now)}, compared up to block ${nextLooks.endedHeight}; all addresses: ${untilText(nextLooks.allAt, now)}, compared up to block ${nextLooks.allHeight}.`
    const name = id.replace(':', ' ')
    const text = `${name} is scanned in ${source} mode${isResting ? ' and rests' : ''}, ${watchText(plan)}. ${reason}${next}${others}`
    return [text, ...choiceNotes(name, plan)]
  })
}

/** Why it is scanned so; where the scanner was not started with these settings yet, that it will change. */
function choiceNotes(name: string, { source, choice }: ScanPlan): readonly string[] {
  if (choice === null) return []
  const change = choice.source === source ? '' : ' The scanner changes to it when it is started with these settings.'
  return [`${name}: the settings choose ${choice.source} mode. ${choice.why}${change}`]
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

/** Every network with its plan, for programs; null where it was never scanned. */
export function withPlans<T extends Pick<ChainStatus, 'mode' | 'network'>>(
  found: readonly T[],
  plans: readonly ScanPlan[],
) {
  return found.map((one) => {
    const plan = plans.find(({ id }) => id === `${one.mode}:${one.network}`)
    if (plan === undefined) return { ...one, scan: null }
    const { id: _id, ...scan } = plan
    return { ...one, scan }
  })
}
