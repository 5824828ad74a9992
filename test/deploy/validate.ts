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

/** Judges a Compose file by the Compose Specification. */
export const composeFaults = (): Validate => faultsOf(new Ajv2020(OPTIONS).compile(schema('compose-spec')))

/** Judges values by a chart's own `values.schema.json`. */
export const valuesFaults = (valuesSchema: Document): Validate => faultsOf(new Ajv(OPTIONS).compile(valuesSchema))

/** Judges a Kubernetes manifest by the API of its kind; a kind without a schema here is a fault. Unknown fields are faults too. */
export function manifestFaults(): Validate {
  const { roots, definitions } = schema('kubernetes') as { roots: Record<string, string>; definitions: Document }
  const ajv = new Ajv(OPTIONS)
  ajv.addSchema({ $id: 'kubernetes', definitions })
  const byKind = new Map(
    Object.entries(roots).map(([kind, name]) => [
      kind,
      faultsOf(ajv.compile({ $ref: `kubernetes#/definitions/${name}` })),
    ]),
  )
  byKind.set('keda.sh/v1alpha1 ScaledObject', faultsOf(ajv.compile(schema('keda-scaledobject'))))
  return (manifest) => {
    const kind = `${manifest.apiVersion} ${manifest.kind}`
    return byKind.get(kind)?.(manifest) ?? [`there is no schema for ${kind}`]
  }
}
