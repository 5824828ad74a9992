import type { PlacedOperation } from './read-document.ts'

/** A shell command that sends the example request of an operation; the key comes from the environment. */
export function curlExample(serverUrl: string, { method, path, operation }: PlacedOperation): string {
  const words = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(serverUrl + path.replace('{id}', exampleId(operation)))}`,
  ]
  words.push('-H "Authorization: Bearer $PAYMESH_API_KEY"')
  if (method === 'POST') words.push('-H "Idempotency-Key: $(uuidgen)"')
  const body = operation.requestBody?.content['application/json'].example
  if (body !== undefined) {
    words.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(body, null, 2))}`)
  }
  return words.join(' \\\n  ')
}

/** The id that the example answer carries. */
function exampleId({ responses }: PlacedOperation['operation']): string {
  for (const response of Object.values(responses)) {
    const example = 'content' in response ? response.content?.['application/json'].example : undefined
    if (isRecord(example) && isRecord(example['data'])) return String(example['data']['id'])
  }
  return '{id}'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** One word for a POSIX shell, whatever is in it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
