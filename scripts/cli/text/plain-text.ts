import { table } from './output.ts'

const TIME = /(^|[a-z])(At|at|Until|until|since|reached)$/

/** A value as a person reads it: times as ISO 8601, lists on one line. */
function cell(value: unknown, name: string): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'number' && TIME.test(name) && value > 1e11) return new Date(value).toISOString()
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(',') || '-'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const at = (item: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), item)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The output of a procedure for a person: a table of `columns` for an output with `items`, otherwise one `name: value` on a line, with
 * nested objects indented and lists of objects as tables.
 */
export function plainText(output: unknown, columns: readonly string[] = []): string {
  if (columns.length === 0 || !isObject(output) || !Array.isArray(output['items'])) return lines(output, '').join('\n')
  const head = columns.map((path) => path.split('.').at(-1)?.toUpperCase() ?? '')
  const rows = output['items'].map((item) => columns.map((path) => cell(at(item, path), path)))
  return table(head, rows, 'none')
}

function lines(value: unknown, indent: string): readonly string[] {
  if (!isObject(value)) return [`${indent}${cell(value, '')}`]
  const width = Math.max(0, ...Object.keys(value).map((name) => name.length))
  return Object.entries(value).flatMap(([name, item]) => {
    if (isObject(item)) return [`${indent}${name}:`, ...lines(item, `${indent}  `)]
    if (Array.isArray(item) && item.some(isObject))
      return [`${indent}${name}:`, ...item.flatMap((one) => [`${indent}  -`, ...lines(one, `${indent}    `)])]
    return [`${indent}${name.padEnd(width)}  ${cell(item, name)}`]
  })
}
