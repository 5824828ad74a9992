import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const names = z.array(z.string().regex(/^\w+$/))
const constants = z.record(z.string(), z.string())

const run = z.strictObject({
  /** Also the name of the planted mistake, if there is one to find. */
  name: z.string().regex(/^[a-z-]+$/),
  is: z.string(),
  constants: constants.optional(),
  /** Liveness is checked as well. */
  live: z.literal(true).optional(),
  /** The rule that the planted mistake breaks; absent where every rule must hold. */
  finds: z.string().optional(),
  /** Further mistakes planted with it. */
  with: z.array(z.string()).optional(),
})

const model = z.strictObject({
  constants,
  symmetry: z.string().optional(),
  invariants: names,
  properties: names,
  liveness: names,
  runs: z.array(run),
})

/** One run of TLC: bounds in addition to the model's own, and the expected result. */
export type ModelRun = z.infer<typeof run>

/** A model with its rules and all its runs. */
export type Model = z.infer<typeof model>

/** The models of a folder by module name, from its `configurations.json`. Throws `ZodError` for any other shape. */
export function readModels(folder: string): Readonly<Record<string, Model>> {
  return z.record(z.string(), model).parse(JSON.parse(readFileSync(join(folder, 'configurations.json'), 'utf8')))
}

/** The mistakes that a run plants; none where every rule must hold. */
export function mistakesOf({ name, finds, with: further = [] }: ModelRun): readonly string[] {
  return finds === undefined ? [] : [name, ...further]
}
