import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sourceFiles } from '#dev/check-folders.ts'
import { isLinear } from '#dev/patterns/check-patterns.ts'
import { appRouter } from '#services/admin/app-router.ts'
import { ROUTES } from '#services/api/routes.ts'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { definitionOf, hostileValue, type SchemaPlace, schemasWithin } from '#test/support/schema-walk.ts'

/** More than the longest text that any field takes, and as much as a body may hold. */
const HOSTILE_LENGTH = 1_048_576
const HOSTILE = `a@${'.'.repeat(HOSTILE_LENGTH - 3)}"`

type Procedures = Readonly<Record<string, { readonly _def: { readonly inputs: readonly z.ZodType[] } }>>

/** Everything that strangers, payers, merchants and members send, by where. */
const INPUTS: ReadonlyMap<string, z.ZodType> = new Map([
  ...ROUTES.flatMap(({ operationId, query, body }): [string, z.ZodType][] => [
    ...(query === undefined ? [] : [[`${operationId} query`, query] as [string, z.ZodType]]),
    ...(body === undefined ? [] : [[`${operationId} body`, body.schema] as [string, z.ZodType]]),
    ...(body !== undefined && 'testSchema' in body
      ? [[`${operationId} test body`, body.testSchema as z.ZodType] as [string, z.ZodType]]
      : []),
  ]),
  ['path', pathId],
  ...Object.entries(appRouter._def.procedures as unknown as Procedures).flatMap(([name, { _def }]) =>
    _def.inputs.map((input, index): [string, z.ZodType] => [`${name} ${index}`, input]),
  ),
  ...(await exportedSchemas(['shared/contracts/checkout', 'services/admin/wire', 'services/checkout'])).filter(
    ([name]) => /(Body|Filters|Input|requests)/.test(name),
  ),
])

/** Every schema that a file of these folders exports, and every exported table of fields. */
async function exportedSchemas(folders: readonly string[]): Promise<[string, z.ZodType][]> {
  const files = sourceFiles('.', folders).filter((file) => /\.ts$/.test(file) && !/web\/|main\.ts$/.test(file))
  const found: [string, z.ZodType][] = []
  for (const file of files) {
    const module: Readonly<Record<string, unknown>> = await import(/* @vite-ignore */ resolve(file))
    for (const [name, value] of Object.entries(module)) {
      if (value instanceof z.ZodType) found.push([`${file} ${name}`, value])
      else if (isShape(value)) found.push([`${file} ${name}`, z.strictObject(value)])
    }
  }
  return found
}

function isShape(value: unknown): value is z.core.$ZodShape {
  if (typeof value !== 'object' || value === null) return false
  const fields = Object.values(value)
  return fields.length > 0 && fields.every((one) => one instanceof z.ZodType)
}

const isText = ({ schema }: SchemaPlace): boolean => definitionOf(schema).type === 'string'
const nameOf = (check: z.core.$ZodCheck): string => check._zod.def.check
const BEFORE: readonly string[] = ['overwrite', 'min_length']

/** A form of a known length: it is anchored and repeats nothing without end. */
const isConstant = ({ source }: RegExp): boolean => source.startsWith('^') && !/[*+]|,\}/.test(source)
/** One character: the library looks for surrogates where it counts the characters of a long text. */
const isCharacter = ({ source }: RegExp): boolean => /^\[[^\]]*\]$/.test(source)

/** The checks of a text before its limit are those that only count or trim; null when nothing ends the check of a text that is too long. */
function limitOf(schema: z.core.$ZodType): number | null {
  const { checks = [], pattern, format } = definitionOf(schema)
  if (format !== undefined) return pattern !== undefined && isConstant(pattern) ? 36 : null
  const place = checks.findIndex((check) => ['max_length', 'length_equals'].includes(nameOf(check)))
  const limit = checks[place]
  if (limit === undefined || !checks.slice(0, place).every((check) => BEFORE.includes(nameOf(check)))) return null
  const { abort, maximum, length } = limit._zod.def as { abort?: boolean; maximum?: number; length?: number }
  return abort === true ? (maximum ?? length ?? null) : null
}

const unbounded = (schema: z.ZodType): string[] =>
  schemasWithin(schema)
    .filter((place) => isText(place) && limitOf(place.schema) === null)
    .map(({ path }) => path)

/** Runs `work` and returns the length of the longest text that a pattern with a repetition received meanwhile. */
function longestMatched(work: () => void): number {
  const { exec } = RegExp.prototype
  const seen = new Map<RegExp, number>()
  RegExp.prototype.exec = function (text: string) {
    seen.set(this, Math.max(seen.get(this) ?? 0, text.length))
    return exec.call(this, text)
  }
  try {
    work()
  } finally {
    RegExp.prototype.exec = exec
  }
  const repeating = [...seen].filter(([pattern]) => !isConstant(pattern) && !isCharacter(pattern))
  return Math.max(0, ...repeating.map(([, length]) => length))
}

describe('a text of any length', () => {
  test('the inputs are read from the definitions', () => {
    expect(INPUTS.size).toBeGreaterThan(150)
  })

  // Guarantee: a text that is too long ends the check of its field before a pattern or a refinement reads it.
  test.each([...INPUTS])('is refused by its length before anything else reads it: %s', (_, schema) => {
    expect(unbounded(schema)).toEqual([])
    for (const choice of [0, 1, 2, 3]) {
      const value = hostileValue(schema, HOSTILE, choice)
      expect(longestMatched(() => void schema.safeParse(value))).toBeLessThan(HOSTILE_LENGTH)
    }
  })

  test('is bounded before a pattern in every schema of a contract', async () => {
    const all = await exportedSchemas(['shared/contracts', 'services/admin/wire'])
    expect(all.length).toBeGreaterThan(60)
    const faults = all.flatMap(([name, schema]) =>
      schemasWithin(schema)
        .filter(isText)
        .filter(({ schema: text }) => {
          const { checks = [], format } = definitionOf(text)
          const reads = format !== undefined || checks.some((check) => !/length|overwrite/.test(nameOf(check)))
          return reads && limitOf(text) === null
        })
        .map(({ path }) => `${name} ${path}`),
    )
    expect(faults).toEqual([])
  })

  test('meets only patterns that are linear, those of the library included', () => {
    const sources = new Map<string, RegExp>()
    for (const schema of INPUTS.values())
      for (const { schema: text } of schemasWithin(schema).filter(isText))
        for (const def of [definitionOf(text), ...(definitionOf(text).checks ?? []).map((check) => check._zod.def)]) {
          const { pattern } = def as { pattern?: RegExp }
          if (pattern !== undefined) sources.set(String(pattern), pattern)
        }
    expect(sources.size).toBeGreaterThan(10)
    expect([...sources.values()].filter(({ source, flags }) => !isLinear(source, flags)).map(String)).toEqual([])
  })
})

describe('a text that is too long', () => {
  // Guarantee: one response names every invalid field, and a long text hides no other fault.
  test('leaves the faults of other fields in the response', () => {
    const body = { amount: '-1', currency: 'USD', description: HOSTILE, order_id: 1 }
    const { error } = invoiceCreateBody.live.safeParse(body)
    expect(error?.issues.map(({ path }) => path.join('.')).sort()).toEqual(['amount', 'description', 'order_id'])
  })
})

describe('the check of limits', () => {
  const pattern = /^[a-z]*$/
  test.each<[string, z.ZodType, boolean]>([
    ['no limit', z.string(), false],
    ['a limit that reports and goes on', z.string().max(9).regex(pattern), false],
    ['a limit after the pattern', z.string().regex(pattern).max(9, { abort: true }), false],
    [
      'a limit after a refinement',
      z
        .string()
        .refine(() => true)
        .max(9, { abort: true }),
      false,
    ],
    ['a format of the library', z.email(), false],
    ['a format of the library before its limit', z.email().max(9, { abort: true }), false],
    ['a field of a list of objects', z.object({ items: z.array(z.object({ note: z.string() })) }), false],
    ['a limit', boundedText(9).regex(pattern), true],
    ['a limit after trimming', trimmedText(9).regex(pattern), true],
    ['a limit before a format of the library', boundedText(9).check(z.email()), true],
    ['an id', z.uuid(), true],
  ])('sees %s', (_, schema, isBounded) => {
    expect(unbounded(schema).length === 0).toBe(isBounded)
  })

  test('counts what patterns read', () => {
    const loose = z.string().max(9).regex(pattern)
    expect(longestMatched(() => void loose.safeParse(HOSTILE))).toBe(HOSTILE_LENGTH)
    expect(longestMatched(() => void boundedText(9).regex(pattern).safeParse(HOSTILE))).toBe(0)
  })
})
