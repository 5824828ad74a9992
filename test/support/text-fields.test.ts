import { expect, it } from 'vitest'
import { z } from 'zod'
import { textFields } from './text-fields.ts'

it('finds every place of an input where a caller can put an id, also one whose form cannot be read', () => {
  const schema = z.object({
    ...{ id: z.uuid(), mode: z.enum(['live', 'test']), count: z.int(), flag: z.boolean().nullable() },
    ...{ deliveryIds: z.array(z.string().regex(/^whd_/)), at: z.literal('now'), none: z.null() },
    about: z.union([z.object({ walletId: z.uuid() }), z.object({ entered: z.object({ value: z.string() }) })]),
    ...{ refined: z.string().refine((text) => text !== ''), changed: z.string().transform((text) => text.length) },
    ...{ own: z.custom<string>(() => true), named: z.record(z.string(), z.string()), maybe: z.string().nullish() },
  })
  expect([...textFields(schema)].sort()).toEqual([
    ...[
      'about.entered.value',
      'about.walletId',
      'changed',
      'deliveryIds[]',
      'id',
      'maybe',
      'named.*',
      'own',
      'refined',
    ],
  ])
})
