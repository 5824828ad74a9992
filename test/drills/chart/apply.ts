import type { Document } from '#test/deploy/deploy-files.ts'
import type { Answer, Cluster } from './cluster.ts'

/** How the API server received a document: empty when it took all of it, without a warning. */
export type Faults = readonly string[]

const titleOf = ({ kind, metadata }: Document): string => `${kind} ${metadata.name}`
const textOf = ({ status, body }: Answer): string => `${status} ${body.message ?? JSON.stringify(body).slice(0, 400)}`

/** Creates a document, with unknown and duplicate fields refused; `isTrial` stores nothing (`--dry-run=server`). */
export async function create(cluster: Cluster, document: Document, isTrial: boolean): Promise<Faults> {
  const path = await cluster.pathOf(document)
  if (path === null) return [`${titleOf(document)}: the cluster has no ${document.apiVersion} ${document.kind}`]
  const answer = await cluster.request(
    'POST',
    `${path}?fieldValidation=Strict${isTrial ? '&dryRun=All' : ''}`,
    document,
  )
  if (answer.status !== 201) return [`${titleOf(document)}: ${textOf(answer)}`]
  return [
    ...answer.warnings.map((text) => `${titleOf(document)}: warns: ${text}`),
    ...lost(document, answer.body, titleOf(document)),
  ]
}

/** Replaces or creates a document as `helm upgrade` and `kubectl apply --server-side` do. */
export async function apply(cluster: Cluster, document: Document): Promise<Faults> {
  const path = await cluster.pathOf(document, document.metadata.name)
  if (path === null) return [`${titleOf(document)}: the cluster has no such kind`]
  const query = 'fieldManager=drill&force=true&fieldValidation=Strict'
  const answer = await cluster.request('PATCH', `${path}?${query}`, document, 'application/apply-patch+yaml')
  return answer.status < 300 ? [] : [`${titleOf(document)}: ${textOf(answer)}`]
}

/** Removes a document. */
export async function remove(cluster: Cluster, document: Document): Promise<Faults> {
  const path = await cluster.pathOf(document, document.metadata.name)
  const { status, body } = await cluster.request('DELETE', path ?? '/', { propagationPolicy: 'Background' })
  return status < 300 ? [] : [`${titleOf(document)}: ${status} ${body.message}`]
}

/** Fields that were sent and are missing or changed in what was stored: dropped by a schema, or replaced by a default. */
function lost(sent: Document, stored: Document, at: string): Faults {
  if (sent === null || typeof sent !== 'object') {
    const isSame =
      sent === stored ||
      (isNothing(sent) && isNothing(stored)) ||
      (sent !== null && sameQuantity(String(sent), String(stored)))
    return isSame ? [] : [`${at} was sent as ${JSON.stringify(sent)} and stored as ${JSON.stringify(stored)}`]
  }
  if (stored === null || typeof stored !== 'object') return isEmpty(sent) ? [] : [`${at} was not stored`]
  return Object.entries(sent).flatMap(([key, value]) => lost(value, stored[key], `${at}.${key}`))
}

/** The server leaves out an empty text and a false flag. */
const isNothing = (value: Document): boolean => value === undefined || value === null || value === '' || value === false

/** An empty list or object, and what means the same as nothing, may be left out. */
const isEmpty = (value: Document): boolean => Object.keys(value).length === 0

/** `1000m` and `1` are one quantity. */
function sameQuantity(one: string, other: string): boolean {
  const milli = (text: string) =>
    /^\d+m$/.test(text) ? Number(text.slice(0, -1)) : /^\d+$/.test(text) ? Number(text) * 1_000 : Number.NaN
  return milli(one) === milli(other)
}
