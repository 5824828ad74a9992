import type { Mutant } from './mutant.ts'

const ATTEMPTS = 'shared/db/deliveries/delivery-repository.ts'
const CLAIMS = 'shared/db/deliveries/delivery-repository.ts'
const FIRST_ATTEMPTS = 'shared/usecases/deliveries/dispatch.ts'
const RELAY_BATCH = 'shared/usecases/outbox/relay.ts'

/** Events and webhooks: who gets what, when, signed how and how often. */
export const DELIVERY_MUTANTS: readonly Mutant[] = [
  {
    name: 'outcome-not-fenced',
    file: ATTEMPTS,
    find: "status: 'pending' as const, leaseToken }",
    replace: '}',
    what: 'A dispatcher that lost its claim still writes its outcome.',
  },
  {
    name: 'claim-consumes-attempt',
    file: CLAIMS,
    find: "const update = [{ $set: { ...lease, claims: { $add: ['$claims', 1] } } }]",
    replace:
      "const update = [{ $set: { ...lease, claims: { $add: ['$claims', 1] }, attempt: { $add: ['$attempt', 1] } } }]",
    what: 'A claim counts as an attempt.',
  },
  {
    name: 'claims-what-is-not-due',
    file: CLAIMS,
    find: "const IS_DUE = { $expr: { $lte: ['$dueAt', '$$NOW'] } }",
    replace: 'const IS_DUE = {}',
    what: 'A row is sent before its time and by two at once.',
  },
  {
    name: 'claims-what-is-done',
    file: CLAIMS,
    find: "filter: { _id, status: 'pending' as const, claims, attempt, ...IS_DUE }, update",
    replace: 'filter: { _id }, update',
    what: 'Between look and claim another dispatcher may have sent the row.',
  },
  {
    name: 'retry-counted-from-the-request',
    file: ATTEMPTS,
    find: "dueAt: { $add: ['$$NOW', retryAfterMs] }",
    replace: 'dueAt: toDate(attempt.at + retryAfterMs)',
    what: 'The pause before a retry begins before the answer is known.',
  },
  {
    name: 'late-attempt-in-the-row',
    file: ATTEMPTS,
    find: 'const missing = await unrecorded(deliveries, outcomes)',
    replace:
      'const missing = await unrecorded(deliveries, outcomes)\n      for (const each of missing)\n        await deliveries.updateOne({ _id: each.deliveryId }, { $push: { attempts: { ...embedded(each), generation: 0 } } })',
    what: 'The answer to a request whose lease was lost changes a delivery that others hold.',
  },
  {
    name: 'attempt-written-twice',
    file: ATTEMPTS,
    find: 'attempts: longer(alike) }',
    replace: 'attempts: { $concatArrays: [longer(alike), longer(alike)] } }',
    what: 'Each attempt is stored twice.',
  },
  {
    name: 'schedule-off-by-one',
    file: 'shared/domain/webhook/schedule.ts',
    find: 'WEBHOOK_RETRY_DELAYS_MS[attempt - 1]',
    replace: 'WEBHOOK_RETRY_DELAYS_MS[attempt]',
    what: 'Each pause is the one after it, and the last retry is missing.',
  },
  {
    name: 'schedule-too-short',
    file: 'shared/domain/webhook/schedule.ts',
    find: '  5 * 60_000,\n',
    replace: '  4 * 60_000,\n',
    what: 'A retry comes a minute early.',
  },
  {
    name: 'redirect-is-success',
    file: 'shared/usecases/deliveries/send.ts',
    find: 'result.status >= 200 && result.status <= 299',
    replace: 'result.status >= 200 && result.status <= 399',
    what: 'A redirect counts as delivered.',
  },
  {
    name: 'body-serialised-again',
    file: 'shared/usecases/deliveries/send.ts',
    find: '    body: event.body,\n    timeoutMs',
    replace:
      '    body: Buffer.from(JSON.stringify(JSON.parse(Buffer.from(event.body).toString()), null, 1)),\n    timeoutMs',
    what: 'What is sent is not what was signed.',
  },
  {
    name: 'signature-over-text-without-time',
    file: 'shared/usecases/deliveries/send.ts',
    find: '.update(signedText(timestampS, body))',
    replace: '.update(body)',
    what: 'The signature does not cover its time.',
  },
  {
    name: 'mode-not-checked',
    file: 'shared/usecases/outbox/relay-records.ts',
    find: "    (endpoint.mode === 'both' || endpoint.mode === event.mode) &&\n",
    replace: '',
    what: 'Test events go to live endpoints.',
  },
  {
    name: 'type-not-checked',
    file: 'shared/usecases/outbox/relay-records.ts',
    find: "endpoint.events.some((type) => type === '*' || type === event.type)",
    replace: 'endpoint.events.length > 0',
    what: 'Endpoints get types they did not subscribe to.',
  },
  {
    name: 'workspace-not-checked',
    file: 'shared/usecases/outbox/relay-records.ts',
    find: '    endpoint.workspaceId === event.workspaceId &&\n',
    replace: '',
    what: "One merchant's events go to another's endpoint.",
  },
  {
    name: 'endpoints-from-a-cache',
    file: 'shared/usecases/outbox/relay.ts',
    find: 'deps.endpoints.listOf(workspaceIds),\n    deps.events.insertMany(events)',
    replace:
      '((deps as never as { known: Map<string, never> }).known ??= new Map()).get(String(workspaceIds)) ??\n      deps.endpoints.listOf(workspaceIds).then((found) => {\n        ;(deps as never as { known: Map<string, never> }).known.set(String(workspaceIds), found as never)\n        return found\n      }),\n    deps.events.insertMany(events)',
    what: 'The relay remembers the endpoints of a workspace.',
  },
  {
    name: 'deleted-endpoint-from-a-cache',
    file: 'shared/usecases/deliveries/claim.ts',
    find: '    deps.endpoints.findByIds(ids((row) => row.endpointId)),\n',
    replace:
      '    ((deps as never as { seen: Map<string, never> }).seen ??= new Map()).get(String(ids((row) => row.endpointId))) ??\n      deps.endpoints.findByIds(ids((row) => row.endpointId)).then((found) => {\n        ;(deps as never as { seen: Map<string, never> }).seen.set(String(ids((row) => row.endpointId)), found as never)\n        return found\n      }),\n',
    what: 'The dispatcher goes on sending to an endpoint that was deleted.',
    seed: '1055',
  },
  {
    name: 'overdue-rows-forgotten',
    file: 'shared/usecases/deliveries/dispatch.ts',
    find: 'const forgotten = ours.filter(\n    ({ endpointId, dueAt }) => dueAt <= requestedAt - OVERDUE_MS && !self.waitingForSlot.has(endpointId),\n  )',
    replace: 'const forgotten: typeof ours = []',
    what: 'A delivery whose wake-up was lost waits for ever.',
  },
  {
    name: 'failing-mail-without-identity',
    file: 'shared/usecases/deliveries/send.ts',
    find: `const mailId = (delivery: { readonly id: string }) => \`endpoint-failing:\${endpoint.id}:\${delivery.id}\``,
    replace: `const mailId = (delivery: { readonly id: string }) => \`endpoint-failing:\${endpoint.id}:\${delivery.id}:\${streak.length}\``,
    what: 'Each further failure mails the owner again.',
  },
  {
    name: 'claimed-insert-without-lease',
    file: FIRST_ATTEMPTS,
    find: 'const claimed = { ...row, leaseToken, claims: 1, dueAt: times.storeNow + LEASE_MS }',
    replace: 'const claimed = { ...row, leaseToken, claims: 1 }',
    what: 'A row that was inserted claimed is due at once, and another process sends it too.',
  },
  {
    name: 'send-before-rows',
    file: RELAY_BATCH,
    find: 'const ours = await deps.deliveries.insertMany(rows)\n    claimed?.send(ours, await bodiesOf(deps, events, existing, rows))',
    replace:
      'claimed?.send(new Set(rows.map(({ id }) => id)), await bodiesOf(deps, events, existing, rows))\n    await deps.deliveries.insertMany(rows)',
    what: 'First attempts begin before their rows are durable.',
  },
  {
    name: 'trim-before-rows',
    file: RELAY_BATCH,
    find: 'const ours = await deps.deliveries.insertMany(rows)',
    replace: 'const ours = new Set<string>()\n    void deps.deliveries.insertMany(rows).catch(() => undefined)',
    what: 'The outbox is trimmed before the deliveries of its events are durable.',
  },
  {
    name: 'two-relays-send',
    file: 'shared/db/deliveries/delivery-repository.ts',
    find: 'for (const id of (await insert()).flatMap(idOf)) ours.delete(id)',
    replace: 'await insert()',
    what: 'Of two relays of a shard, the one whose rows were refused sends them too.',
  },
  {
    name: 'endpoint-of-the-relay-for-ever',
    file: FIRST_ATTEMPTS,
    find: 'const FRESH_MS = 1_000',
    replace: 'const FRESH_MS = 60_000',
    what: 'A first attempt goes to an endpoint that was deleted between read and request.',
    seed: '33',
  },
  {
    name: 'first-outcome-counts',
    file: FIRST_ATTEMPTS,
    find: 'leaseToken, claims: 1,',
    replace: 'leaseToken, attempt: 1, claims: 1,',
    what: 'A first attempt uses up an attempt although its outcome was lost.',
  },
  {
    name: 'gives-up-early',
    file: 'shared/domain/webhook/schedule.ts',
    find: '  12 * 3_600_000,\n',
    replace: '',
    what: 'A delivery fails after eight attempts.',
  },
]
