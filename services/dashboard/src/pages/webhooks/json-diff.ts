/** A value that differs between two JSON texts. `before` or `after` is null where the field is missing on that side. */
export interface JsonChange {
  /** As a program would read it: `data.payments[0].amount`; empty for the whole text. */
  readonly path: string
  /** As JSON. */
  readonly before: string | null
  readonly after: string | null
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** What differs between two JSON texts, in the order of their fields; null when one of them is not JSON. Lists are compared place by place. */
export function diffJson(before: string, after: string): readonly JsonChange[] | null {
  const [left, right] = [parse(before), parse(after)]
  return left === undefined || right === undefined ? null : changes('', left, right)
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

function changes(path: string, left: Json | undefined, right: Json | undefined): readonly JsonChange[] {
  if (isTree(left) && isTree(right) && Array.isArray(left) === Array.isArray(right)) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    return keys.flatMap((key) => changes(stepTo(path, key, Array.isArray(left)), own(left, key), own(right, key)))
  }
  const [was, is] = [textOf(left), textOf(right)]
  return was === is ? [] : [{ path, before: was, after: is }]
}

const isTree = (value: Json | undefined): value is Extract<Json, object> => typeof value === 'object' && value !== null
const own = (tree: object, key: string): Json | undefined =>
  Object.hasOwn(tree, key) ? (tree as Readonly<Record<string, Json>>)[key] : undefined
const textOf = (value: Json | undefined): string | null => (value === undefined ? null : JSON.stringify(value))

function stepTo(path: string, key: string, isList: boolean): string {
  if (isList) return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}
