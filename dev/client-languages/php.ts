import { cells } from './fulfilment.ts'
import { type Field, fieldsOf, type NamedSchema, type ValueType } from './schema.ts'

const HEAD =
  '<?php\n\n// Generated from docs/openapi.json by `npm run gen:client`. Do not edit.\n\ndeclare(strict_types=1);\n\nnamespace Paymesh;\n\n'

/** Resources of the API as classes with read-only properties; what a request takes stays an array. */
export function phpTypes(objects: readonly NamedSchema[]): string {
  const classes = objects.filter(({ name }) => !/(Create|Request|CreateCustomer)$/.test(name)).map(classOf)
  return `${HEAD}${classes.join('\n')}`
}

/** The table of fulfilment as a constant. */
export function phpFulfilment(): string {
  const rows = cells().map(
    ({ order, status, cell }) => `        '${order} ${status}' => [${cell.map((one) => `'${one}'`).join(', ')}],`,
  )
  return `<?php\n\n// Generated from clients/conformance/fulfilment.json by \`npm run gen:client\`. Do not edit.\n\ndeclare(strict_types=1);\n\nnamespace Paymesh;\n\n/** Order and status of the invoice: action, next state of the order, money to return. */\nfinal class FulfilmentTable\n{\n    public const ROWS = [\n${rows.join('\n')}\n    ];\n}\n`
}

function classOf(object: NamedSchema): string {
  const fields = fieldsOf(object)
  const text = object.schema.description ?? 'Part of a resource.'
  const properties = fields.map(
    (field) => `${commentOf(field)}        public readonly ${typeOf(field)} $${field.name},`,
  )
  const values = fields.map((field) => `            ${readOf(field)},`)
  return `/** ${text} */\nfinal class ${object.name}\n{\n    public function __construct(\n${properties.join('\n')}\n    ) {\n    }\n\n    /** @param array<string, mixed> $data A decoded answer; unknown fields are left out. */\n    public static function from(array $data): self\n    {\n        return new self(\n${values.join('\n')}\n        );\n    }\n}\n`
}

function commentOf({ value, description }: Field): string {
  const list =
    value.kind === 'list'
      ? `@var list<${nameOf(value.of)}> `
      : value.kind === 'texts'
        ? '@var array<string, string> '
        : ''
  const text = `${list}${description?.split('\n')[0] ?? ''}`.trim()
  return text === '' ? '' : `        /** ${text.replaceAll('*/', '')} */\n`
}

function nameOf(value: ValueType): string {
  if (value.kind === 'object') return value.name
  return { text: 'string', integer: 'int', boolean: 'bool', texts: 'array', list: 'array' }[value.kind]
}

const typeOf = ({ value, nullable, required }: Field): string => `${nullable || !required ? '?' : ''}${nameOf(value)}`

function readOf({ name, value, nullable, required }: Field): string {
  const given = `$data['${name}']`
  const optional = nullable || !required
  if (value.kind === 'object')
    return optional ? `isset(${given}) ? ${value.name}::from(${given}) : null` : `${value.name}::from(${given})`
  return optional ? `${given} ?? null` : given
}
