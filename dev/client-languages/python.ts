import { cells } from './fulfilment.ts'
import { type Field, fieldsOf, type NamedSchema, type ValueType } from './schema.ts'

const HEAD = '"""Generated from docs/openapi.json by `npm run gen:client`. Do not edit."""\n\n'

const IMPORTS = `from __future__ import annotations

from typing import Dict, List, Optional, TypedDict

try:
    from typing import NotRequired
except ImportError:  # Python 3.9 and 3.10 have no such mark; it is for type checkers alone.
    NotRequired = Optional  # type: ignore[assignment,misc]
`

/** Types of the API as typed dictionaries. */
export function pythonTypes(objects: readonly NamedSchema[]): string {
  const classes = objects.map((object) => {
    const fields = fieldsOf(object).flatMap(lineOf)
    const text = (object.schema.description ?? `Part of a ${object.name}.`).replaceAll('\\', '\\\\')
    return `class ${object.name}(TypedDict):\n    """${text}"""\n\n${fields.join('\n')}\n`
  })
  return `${HEAD}${IMPORTS}\n\n${classes.join('\n\n')}`
}

/** The table of fulfilment as a dictionary. */
export function pythonFulfilment(): string {
  const rows = cells().map(
    ({ order, status, cell }) => `    ("${order}", "${status}"): (${cell.map((one) => `"${one}"`).join(', ')}),`,
  )
  return `"""Generated from clients/conformance/fulfilment.json by \`npm run gen:client\`. Do not edit."""\n\n# (order, status of the invoice): (action, next state of the order, money to return)\nTABLE = {\n${rows.join('\n')}\n}\n`
}

function lineOf({ name, value, nullable, required, description }: Field): string[] {
  const type = nullable ? `Optional[${typeOf(value)}]` : typeOf(value)
  const comment = description === undefined ? [] : [`    #: ${description.split('\n')[0]}`]
  return [...comment, `    ${name}: ${required ? type : `NotRequired[${type}]`}`]
}

const TYPES = { text: 'str', integer: 'int', boolean: 'bool', texts: 'Dict[str, str]' } as const

function typeOf(value: ValueType): string {
  if (value.kind === 'object') return value.name
  return value.kind === 'list' ? `List[${typeOf(value.of)}]` : TYPES[value.kind]
}
