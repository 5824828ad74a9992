import { type Command, Option } from 'commander'
import { z } from 'zod'
import { appRouter } from '#services/admin/app-router.ts'
import type { ProcedurePath } from '../session/operator-caller.ts'
import { parseMoment } from '../text/parse-time.ts'
import { wholeNumber } from '../text/whole-number.ts'

/** How one word of the command line fills a field of an input. */
export interface Flag {
  /** Name without dashes; default: the last part of the field's path in kebab case. */
  readonly name?: string
  readonly help?: string
  /** Reads the text; throws `InvalidArgumentError`. Default: by the type of the field. */
  readonly read?: (text: string) => unknown
  /** Used when the flag is not given. */
  readonly otherwise?: unknown
  /** Whether the command needs it although the procedure does not. */
  readonly isRequired?: true
}

/** Flags by the path of their field, such as `about.entered.family`; a list gives one field several. Null: the field has no flag. */
export type Flags = Readonly<Record<string, Flag | readonly Flag[] | null>>

/** A field of an input as the command line offers it. */
export interface Field extends Omit<Flag, 'name' | 'isRequired'> {
  readonly path: readonly string[]
  readonly name: string
  readonly isRequired: boolean
  readonly isSwitch: boolean
  readonly choices: readonly string[] | null
}

interface Definition {
  readonly type: string
  readonly innerType?: z.core.$ZodType
  readonly element?: z.core.$ZodType
  readonly shape?: Readonly<Record<string, z.core.$ZodType>>
  readonly options?: readonly z.core.$ZodType[]
  readonly entries?: Readonly<Record<string, string>>
}

const WRAPPERS = ['optional', 'nullable', 'default', 'nullish']
/** Fields that the skin fills, and cursors, which no person types. */
const FILLED = ['workspaceId', 'mode', 'opId', 'cursor']
/** What a field of this name says and how it is read, in every command. */
const BY_NAME: Readonly<Record<string, Flag>> = {
  reason: { help: 'reason for the audit log' },
  limit: { help: 'at most this many of each workspace and mode' },
  order: { help: 'order of the list' },
  from: { help: 'only since then: 2026-10-01T12:00:00Z, 2026-10-01 or 24h', read: parseMoment },
  until: { help: 'only before then, in the same forms', read: parseMoment },
  since: { help: 'start: 2026-10-01T12:00:00Z, 2026-10-01 or 24h', read: parseMoment },
  q: { name: 'search', help: 'an id or number' },
}

const PROCEDURES = appRouter._def.procedures as unknown as Readonly<
  Record<string, { readonly _def: { readonly inputs: readonly z.core.$ZodType[] } }>
>

/** The whole input of a procedure: a strict object without its own checks, which is empty for one that takes nothing. */
export function inputOf(procedure: ProcedurePath): z.ZodObject {
  const input = PROCEDURES[procedure]?._def.inputs.at(-1)
  return input instanceof z.ZodObject ? input : z.strictObject({})
}

/** Whether the input names a workspace and a mode. */
export const isScoped = (procedure: ProcedurePath): boolean => 'workspaceId' in inputOf(procedure).shape

/** The fields of a procedure's input, nested ones by their path, without those that the skin fills. */
export function fieldsOf(procedure: ProcedurePath, flags: Flags = {}): readonly Field[] {
  const { shape } = inputOf(procedure)
  const filled = isScoped(procedure) ? FILLED : ['opId']
  return Object.entries(shape)
    .filter(([name]) => !filled.includes(name))
    .flatMap(([name, schema]) => flatten(schema, [name], true, flags))
}

function flatten(schema: z.core.$ZodType, path: readonly string[], isNeeded: boolean, flags: Flags): readonly Field[] {
  const declared = flags[path.join('.')]
  if (declared === null) return []
  const { type, innerType, shape, options, element, entries } = schema._zod.def as unknown as Definition
  if (innerType !== undefined && WRAPPERS.includes(type)) return flatten(innerType, path, false, flags)
  if (declared === undefined && shape !== undefined)
    return Object.entries(shape).flatMap(([name, inner]) => flatten(inner, [...path, name], isNeeded, flags))
  if (declared === undefined && options !== undefined)
    return options.flatMap((option) => flatten(option, path, false, flags))
  const last = path.at(-1) ?? ''
  const several = Array.isArray(declared) ? (declared as readonly Flag[]) : null
  return (several ?? [(declared as Flag | undefined) ?? {}]).map((own) => {
    const flag = { ...BY_NAME[last], ...own }
    return {
      path,
      name: flag.name ?? last.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      help: flag.help ?? last.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
      isRequired: flag.isRequired ?? (isNeeded && several === null && !('otherwise' in flag)),
      isSwitch: type === 'boolean',
      choices: entries === undefined ? null : Object.values(entries),
      read: flag.read ?? readerOf(type, element),
      ...('otherwise' in flag && { otherwise: flag.otherwise }),
    }
  })
}

function readerOf(type: string, element: z.core.$ZodType | undefined): (text: string) => unknown {
  if (type === 'array' && element !== undefined) return (text) => text.split(',').map((part) => part.trim())
  return type === 'number' ? parseCount : (text) => text
}

/** A whole number on the command line. */
export const parseCount = wholeNumber(/^\d{1,15}$/, 'a whole number')

/** Adds the flags of the fields to a command; one that several procedures have is added once. */
export function addFlags(command: Command, fields: readonly Field[], operands: readonly string[]): void {
  for (const field of fields) {
    if (operands.includes(field.path.join('.'))) continue
    if (command.options.some(({ long }) => long === `--${field.name}`)) continue
    const option = new Option(field.isSwitch ? `--${field.name}` : `--${field.name} <${valueName(field)}>`, field.help)
    if (field.choices !== null) option.choices([...field.choices])
    else if (!field.isSwitch && field.read !== undefined) option.argParser(field.read)
    command.addOption(field.isRequired ? option.makeOptionMandatory() : option)
  }
}

const valueName = ({ name }: Field): string => name.split('-').at(-1) ?? name

/** The input that the given words fill; what was not given is absent. */
export function inputFrom(
  fields: readonly Field[],
  given: { readonly operands: Readonly<Record<string, string>>; readonly options: Readonly<Record<string, unknown>> },
): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const { path, name, read, otherwise } of fields) {
    const operand = given.operands[path.join('.')]
    const attribute = name.replace(/-./g, (pair) => pair.slice(1).toUpperCase())
    const value = operand === undefined ? (given.options[attribute] ?? otherwise) : (read?.(operand) ?? operand)
    if (value !== undefined) put(input, path, value)
  }
  return input
}

function put(into: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    into[first] = value
    return
  }
  const inner = (into[first] ?? {}) as Record<string, unknown>
  into[first] = inner
  put(inner, rest, value)
}

/** The command line's word for a field: its flag, or the name of its place. */
export function wordOf(fields: readonly Field[], operands: readonly string[], path: readonly PropertyKey[]): string {
  const key = path.join('.')
  if (key === 'workspaceId') return '--workspace'
  const near = fields.filter(({ path: own }) => `${key}.`.startsWith(`${own.join('.')}.`))
  // A choice between objects is wrong as a whole.
  const named =
    near.length > 0 ? near.slice(0, 1) : fields.filter(({ path: own }) => own.join('.').startsWith(`${key}.`))
  const words = named.map(({ path: own, name }) => (operands.includes(own.join('.')) ? own.join('.') : `--${name}`))
  return words.length === 0 ? key : words.join(', ')
}
