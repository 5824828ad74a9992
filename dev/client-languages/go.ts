import { cells } from './fulfilment.ts'
import { type Field, fieldsOf, type NamedSchema, pascal, type ValueType } from './schema.ts'

const HEAD = '// Code generated from docs/openapi.json by `npm run gen:client`. DO NOT EDIT.\n\npackage paymesh\n\n'

/** Types of the API as structs; what may be null or absent is a pointer. */
export function goTypes(objects: readonly NamedSchema[]): string {
  const structs = objects.map((object) => {
    // A blank line between fields: gofmt aligns only what stands together.
    const fields = fieldsOf(object).map((field) => linesOf(field).join('\n'))
    const text = object.schema.description ?? `is part of a resource.`
    return `// ${object.name}: ${text}\ntype ${object.name} struct {\n${fields.join('\n\n')}\n}\n`
  })
  return `${HEAD}${structs.join('\n')}`
}

/** The table of fulfilment as a map. */
export function goFulfilment(): string {
  const keys = cells().map(({ order, status }) => `{"${order}", "${status}"}:`)
  const width = Math.max(...keys.map(({ length }) => length))
  const rows = cells().map(
    ({ cell }, index) => `\t${keys[index]?.padEnd(width)} {${cell.map((one) => `"${one}"`).join(', ')}},`,
  )
  return `// Code generated from clients/conformance/fulfilment.json by \`npm run gen:client\`. DO NOT EDIT.\n\npackage paymesh\n\n// Order and status of the invoice: action, next state of the order, money to return.\nvar fulfilmentTable = map[[2]string][3]string{\n${rows.join('\n')}\n}\n`
}

function linesOf({ name, value, nullable, required, description }: Field): string[] {
  const tag = `\`json:"${name}${required ? '' : ',omitempty'}"\``
  const comment = description === undefined ? [] : [`\t// ${description.split('\n')[0]}`]
  const type = typeOf(value)
  const isPointer = (nullable || !required) && !/^(?:map|\[\])/.test(type)
  return [...comment, `\t${goName(name)} ${isPointer ? '*' : ''}${type} ${tag}`]
}

const goName = (name: string): string =>
  pascal(name).replace(/Id$/, 'ID').replace(/^Url$/, 'URL').replace(/Url$/, 'URL').replace(/^Uri$/, 'URI')

const TYPES = { text: 'string', integer: 'int64', boolean: 'bool', texts: 'map[string]string' } as const

function typeOf(value: ValueType): string {
  if (value.kind === 'object') return value.name
  return value.kind === 'list' ? `[]${typeOf(value.of)}` : TYPES[value.kind]
}
