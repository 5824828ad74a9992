import { z } from 'zod'

/** What is read of a JSON Schema here. */
interface Shape {
  readonly type?: string | readonly string[]
  readonly enum?: unknown
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly prefixItems?: readonly Shape[]
  readonly additionalProperties?: Shape | boolean
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
  readonly allOf?: readonly Shape[]
}

/**
 * The fields of an input that take a text of the caller's choice, such as an id: `about.walletId`, `deliveryIds[]`. A field whose form
 * cannot be read counts as one. Enumerations, numbers and truth values are left out.
 */
export function textFields(schema: z.ZodType): readonly string[] {
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape
  return [...new Set(fieldsOf(shape, ''))]
}

function fieldsOf(shape: Shape, path: string): readonly string[] {
  const { type, properties = {}, items, prefixItems = [], additionalProperties: more } = shape
  const ways = [...(shape.anyOf ?? []), ...(shape.oneOf ?? []), ...(shape.allOf ?? [])]
  const isNamed = shape.enum !== undefined || shape.const !== undefined
  const isUnread = type === undefined && ways.length === 0
  return [
    ...(!isNamed && ([type].flat().includes('string') || isUnread) ? [path] : []),
    ...Object.entries(properties).flatMap(([name, one]) => fieldsOf(one, path === '' ? name : `${path}.${name}`)),
    ...[...ways, ...prefixItems].flatMap((one) => fieldsOf(one, path)),
    ...(items === undefined ? [] : fieldsOf(items, `${path}[]`)),
    ...(typeof more === 'object' && Object.keys(more).length > 0 ? fieldsOf(more, `${path}.*`) : []),
  ]
}
