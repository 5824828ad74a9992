import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'

type Json = Readonly<Record<string, unknown>>

/** The committed OpenAPI document as plain data. */
export const OPENAPI_DOCUMENT = JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8'))

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema(OPENAPI_DOCUMENT, 'document')

/**
 * Validates as a reader of the document alone would: by its JSON Schema, whose references lead into the committed document. Returns the
 * faults of a value, none when it fits.
 */
export function documentValidator(schema: Json): (value: unknown) => readonly ErrorObject[] {
  const validate = ajv.compile(
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')),
  )
  return (value) => (validate(value) ? [] : (validate.errors ?? []))
}
