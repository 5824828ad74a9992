import { initTRPC, TRPCError } from '@trpc/server'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'
import { appRouter } from './app-router.ts'
import { detailsOf, publicMessage } from './refusals.ts'
import { strictInput } from './strict-input.ts'
import { createCallerFactory, isBounded, openProcedure, type ProcedureMeta } from './trpc.ts'

type Procedures = Readonly<
  Record<
    string,
    {
      readonly _def: {
        readonly meta: ProcedureMeta
        readonly type: string
        readonly inputs: readonly z.core.$ZodType[]
      }
    }
  >
>
const PROCEDURES = Object.entries(appRouter._def.procedures as unknown as Procedures)
const stores = useStores()
let boss: AdminCaller
beforeAll(async () => {
  boss = await adminCaller(stores, { operator: true })
})

/** Calls a procedure as a person whom it lets in, with this input as it stands. */
async function call(path: string, { access }: ProcedureMeta, input: unknown): Promise<unknown> {
  const session: OperatorSession = access === 'pending' ? { ...boss.session, secondFactor: 'pending' } : boss.session
  const nothing = () => undefined
  const facts = { requestId: 'req_strict', ip: '127.0.0.1', userAgent: 'vitest', device: null }
  const context = { ...facts, session, deps: boss.deps, setSessionToken: nothing, setDevice: nothing }
  let target: unknown = createCallerFactory(appRouter)(context)
  for (const name of path.split('.')) target = (target as Record<string, unknown>)[name]
  return await (target as (given: unknown) => Promise<unknown>)(input)
}

/** What a schema says about its own parts. */
interface Parts {
  readonly type: string
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly element?: z.core.$ZodType
  readonly innerType?: z.core.$ZodType
  readonly options?: readonly z.core.$ZodType[]
  readonly valueType?: z.core.$ZodType
  readonly keyType?: z.core.$ZodType
  readonly entries?: Readonly<Record<string, string>>
}
const partsOf = (schema: z.core.$ZodType) => schema._zod.def as unknown as Parts

/** Inputs in which exactly one object has an unknown field, one for each object at any level. The rest needs not be valid. */
function probes(schema: z.core.$ZodType, seen: object): readonly unknown[] {
  const { shape, element, innerType, options, valueType, keyType } = partsOf(schema)
  if (shape !== undefined) {
    const deeper = Object.entries(shape).flatMap(([name, field]) =>
      probes(field, {}).map((inner) => ({ ...seen, [name]: inner })),
    )
    return [{ ...seen, unheard: 1 }, ...deeper]
  }
  if (innerType !== undefined) return probes(innerType, seen)
  if (element !== undefined) return probes(element, seen).map((inner) => [inner])
  if (options !== undefined) return options.flatMap((option) => probes(option, seen))
  if (valueType === undefined || keyType === undefined) return []
  const [key = ''] = Object.values(partsOf(keyType).entries ?? {})
  return [{ unheard: null }, ...probes(valueType, seen).map((inner) => ({ [key]: inner }))]
}

/** Whether an error says that the unknown field is one, however deep in a union. */
const namesUnknown = (error: unknown): boolean =>
  error instanceof TRPCError &&
  error.code === 'BAD_REQUEST' &&
  /"unrecognized_keys"|"invalid_key"/.test(JSON.stringify((error.cause as z.ZodError | undefined)?.issues ?? null))

describe('the input of every procedure', () => {
  // Guarantee: no page calls an action that it cannot send. A POST without a body is malformed, so `mutate()` must not compile.
  test('is an object, if it is an action', () => {
    const actions = PROCEDURES.filter(([, { _def }]) => _def.type === 'mutation')
    expect(actions.length).toBeGreaterThan(50)
    const optional = actions.filter(([, { _def }]) => _def.inputs.every((one) => z.safeParse(one, undefined).success))
    expect(optional.map(([path]) => path)).toEqual([])
  })

  // Guarantee: no procedure of the dashboard drops a field that it does not understand, at any level of its input.
  test.each(PROCEDURES)('%s refuses an unknown field in each of its objects', async (path, { _def }) => {
    const schema = _def.inputs.at(-1)
    expect(schema).toBeDefined()
    const found = schema === undefined ? [] : probes(schema, { ...boss.at })
    expect(found.length).toBeGreaterThan(0)
    for (const input of found) {
      const error = await call(path, _def.meta, input).catch((thrown: unknown) => thrown)
      expect([JSON.stringify(input), namesUnknown(error)]).toEqual([JSON.stringify(input), true])
    }
  })

  // Guarantee: nothing recurses into an input, compares it or stores it before its depth and size are known.
  test.each(PROCEDURES)('%s refuses 200,000 brackets, a million values and a prototype', async (path, { _def }) => {
    for (const unheard of [BRACKETS, MANY, JSON.parse('{"__proto__":{"isOperator":true}}')]) {
      const error = await call(path, _def.meta, { ...boss.at, unheard }).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'BAD_REQUEST', message: 'The input is invalid.' })
    }
  })

  test.each(PROCEDURES)('%s bounds every list', (_path, { _def }) => {
    const unbounded: string[] = []
    const visit = (schema: z.core.$ZodType, path: string): void => {
      const { type, shape, element, innerType, options, valueType } = partsOf(schema)
      const bounds = schema._zod.def.checks?.map((check) => check._zod.def.check) ?? []
      if (type === 'array' && !bounds.some((bound) => bound === 'max_length' || bound === 'length_equals'))
        unbounded.push(path)
      for (const [name, field] of Object.entries(shape ?? {})) visit(field, `${path}.${name}`)
      for (const inner of [element, innerType, valueType, ...(options ?? [])])
        if (inner !== undefined) visit(inner, path)
    }
    for (const schema of _def.inputs) visit(schema, '')
    expect(unbounded).toEqual([])
  })

  test('is refused without the text of its caller', () => {
    const cause = z.strictObject({ id: z.uuid() }).safeParse({ 'four words are a password': 1 }).error
    const error = new TRPCError({ code: 'BAD_REQUEST', cause })
    expect(publicMessage(error)).toBe('The input is invalid.')
    expect(detailsOf(error)).toContainEqual({ path: '', message: 'has an unknown field' })
    expect(JSON.stringify(detailsOf(error))).not.toContain('password')
  })

  test('cannot be defined with an object that drops fields, or with a value of any form', () => {
    const wrong = [
      z.object({ a: z.object({ b: z.string() }) }),
      z.object({ a: z.array(z.object({ b: z.string() })).optional() }),
      z.object({ a: z.union([z.string(), z.looseObject({})]) }),
      z.object({ a: z.unknown() }),
      z.object({ a: z.record(z.enum(['x']), z.object({})) }),
      z.object({ a: z.string() }).refine(() => true),
      z.string(),
    ]
    for (const input of wrong) expect(() => strictInput(z.object({}), input)).toThrow(TypeError)
    expect(() => openProcedure.input(z.object({ a: z.object({}) }))).toThrow('a must be a strict object')
    expect(() => strictInput(z.object({}), z.object({ a: z.strictObject({ b: z.string() }) }))).not.toThrow()
  })

  test('of a procedure that was built without these rules is shown', async () => {
    const lax = initTRPC.create().procedure.input(z.object({ a: z.object({ b: z.string() }) }))
    const [schema] = (lax as unknown as Procedures[string])._def.inputs
    const found = schema === undefined ? [] : probes(schema, {})
    expect(found).toEqual([{ unheard: 1 }, { a: { unheard: 1 } }])
    expect(found.every((input) => z.safeParse(schema as z.ZodType, input).error?.issues.length !== 0)).toBe(true)
  })
})

let nested: unknown = 'x'
for (let depth = 0; depth < 200_000; depth += 1) nested = [nested]
const BRACKETS = nested
const MANY = Array.from({ length: 1_000_000 }, () => 0)

test('an input is bounded by levels and values, however they are arranged', () => {
  const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
  expect([isBounded(deep(10)), isBounded(deep(11))]).toEqual([true, false])
  expect([isBounded(Array(49_999).fill(0)), isBounded(Array(50_000).fill(0))]).toEqual([true, false])
  expect(isBounded(Array.from({ length: 300 }, () => Array(200).fill(0)))).toBe(false)
  for (const plain of [undefined, null, 'x'.repeat(1_000_000), 7, {}, []]) expect(isBounded(plain)).toBe(true)
})
