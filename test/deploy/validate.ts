import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Document } from './deploy-files.ts'

const schema = (name: string): Document =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'schemas', `${name}.generated.json`), 'utf8'))

/** Faults of one document, each with the place where it is; empty when there is none. */
type Validate = (document: Document) => readonly string[]

const OPTIONS = { strict: false, allErrors: true, validateFormats: false } as const

function faultsOf(validate: ReturnType<Ajv['compile']>): Validate {
  return (document) =>
    validate(document)
      ? []
      : (validate.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        )
}

/** Checks a Compose file by the Compose Specification. */
export const composeFaults = (): Validate => faultsOf(new Ajv2020(OPTIONS).compile(schema('compose-spec')))

/** Checks values by a chart's own `values.schema.json`. */
export const valuesFaults = (valuesSchema: Document): Validate => faultsOf(new Ajv(OPTIONS).compile(valuesSchema))

/** Checks a Kubernetes manifest by the API of its kind; a kind without a schema here is a fault. Unknown fields are faults too. */
export function manifestFaults(): Validate {
  const ajv = new Ajv(OPTIONS)
  const byKind = new Map<string, Validate>()
  // One file for each origin of schemas.
  for (const file of ['kubernetes', 'monitoring']) {
    const { roots, definitions } = schema(file) as { roots: Record<string, string>; definitions: Document }
    ajv.addSchema({ $id: file, definitions })
    for (const [kind, name] of Object.entries(roots))
      byKind.set(kind, faultsOf(ajv.compile({ $ref: `${file}#/definitions/${name}` })))
  }
  byKind.set('keda.sh/v1alpha1 ScaledObject', faultsOf(ajv.compile(schema('keda-scaledobject'))))
  return (manifest) => {
    const kind = `${manifest.apiVersion} ${manifest.kind}`
    return byKind.get(kind)?.(manifest) ?? [`there is no schema for ${kind}`]
  }
}
