import { z } from 'zod'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import type { ScanPlan } from '#shared/usecases/diagnostics/scan-plans.ts'

const scanMode = z.enum(['full', 'thrifty'])

/** How a network is scanned, for whom, and when its node is asked next: a `ScanPlan`. Times are Unix milliseconds. */
export const scanPlanWire = z.object({
  source: scanMode,
  /** By the settings; null without a node. */
  choice: z.object({ source: scanMode, why: z.string() }).nullable(),
  open: z.array(z.object({ asset: z.enum(ASSET_IDS), methods: z.number() })),
  isComplete: z.boolean(),
  isResting: z.boolean(),
  nextLookAt: z.number().nullable(),
  reason: z.string(),
  nextLooks: z
    .object({ endedAt: z.number(), endedHeight: z.number(), allAt: z.number(), allHeight: z.number() })
    .nullable(),
})

/** The plan of a network by `<mode>:<network>`; null where it was never scanned. */
export function scanPlanToWire(plans: readonly ScanPlan[], id: string): z.output<typeof scanPlanWire> | null {
  const plan = plans.find((one) => one.id === id)
  if (plan === undefined) return null
  const { id: _id, open, ...same } = plan
  return { ...same, open: [...open] }
}
