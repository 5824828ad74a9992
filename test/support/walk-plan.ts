/** A walk that clicks at random through the dashboard. */
export interface Walk {
  /** The same seed makes the same choices among the same controls. */
  readonly seed: number
  readonly steps: number
  /** Width of the window in pixels, for equal parts of the walk. */
  readonly widths: readonly number[]
}

const STEPS = 120
/** The walk of `npm test`: half of it on a desktop, half on a phone. */
const FIXED: readonly Walk[] = [{ seed: 1, steps: STEPS, widths: [1280, 390] }]
const WIDTHS = [1280, 390, 1440]

/**
 * The walks of a run. The one place to change them: `WALK_SEEDS=7,8` names seeds, `WALK_COUNT=20` takes so many new ones, `WALK_STEPS`
 * sets the length of each (120); without any of them, the fixed one.
 */
export function plannedWalks(env: Readonly<Record<string, string | undefined>>): readonly Walk[] {
  const steps = Number(env['WALK_STEPS'] ?? STEPS)
  const named = (env['WALK_SEEDS'] ?? '')
    .split(',')
    .filter((text) => /^\d+$/.test(text))
    .map(Number)
  const count = Number(env['WALK_COUNT'] ?? 0)
  const fresh = Array.from({ length: count }, () => Math.floor(Math.random() * 1e9))
  const seeds = [...named, ...fresh]
  if (seeds.length === 0) return FIXED.map((walk) => ({ ...walk, steps }))
  return seeds.map((seed) => ({ seed, steps, widths: [WIDTHS[seed % WIDTHS.length] ?? 1280] }))
}
