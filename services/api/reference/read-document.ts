/** The parts of a schema that the page shows. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly (string | number)[]
  readonly const?: string | number | boolean
  readonly default?: string | number | boolean
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly propertyNames?: Schema
  readonly additionalProperties?: Schema | false
}

/** A parameter in path, query or header. */
export interface ShownParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description: string
  readonly schema: Schema
}

/** A JSON body with one example or several named ones. */
export interface ShownContent {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

/** A response of an operation. */
export interface ShownResponse {
  readonly description: string
  readonly content?: { readonly 'application/json': ShownContent }
}

/** One operation, or the one webhook. */
export interface ShownOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly 'x-scope'?: string
  readonly parameters?: readonly (ShownParameter | Reference)[]
  readonly requestBody?: { readonly content: { readonly 'application/json': ShownContent } }
  readonly responses: Readonly<Record<string, ShownResponse | Reference>>
}

/** The parts of the OpenAPI document that the page shows. */
export interface ShownDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, ShownOperation>>>>
  readonly webhooks: { readonly event: { readonly post: ShownOperation } }
  readonly components: Components
}

interface Components {
  readonly schemas: Readonly<Record<string, Schema>>
  readonly parameters: Readonly<Record<string, ShownParameter>>
  readonly responses: Readonly<Record<string, ShownResponse>>
  readonly headers: Readonly<Record<string, { readonly description: string; readonly schema: Schema }>>
}

interface Reference {
  readonly $ref: string
}

/** An operation with its place in the interface. */
export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly operation: ShownOperation
}

/** Every operation of a tag, in the order of the document. */
export function operationsOf(document: ShownDocument, tag: string): readonly PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** The last part of a reference: the name of a component. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** The parameter itself, looked up when it is a reference. Throws for one that leads nowhere. */
export function parameterOf(document: ShownDocument, value: ShownParameter | Reference): ShownParameter {
  return '$ref' in value ? found(document.components.parameters[refName(value.$ref)], value.$ref) : value
}

/** The response itself, looked up when it is a reference. Throws for one that leads nowhere. */
export function responseOf(document: ShownDocument, value: ShownResponse | Reference): ShownResponse {
  return '$ref' in value ? found(document.components.responses[refName(value.$ref)], value.$ref) : value
}

/** The schema that a schema refers to, or itself. Throws for a reference that leads nowhere. */
export function schemaOf(document: ShownDocument, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : found(document.components.schemas[refName(schema.$ref)], schema.$ref)
}

function found<T>(value: T | undefined, ref: string): T {
  if (value === undefined) throw new Error(`the document has no ${ref}`)
  return value
}
