import { createOpenApiDocument } from '#services/api/reference/document.ts'
import { writeGenerated } from './write-generated.ts'

const text = `${JSON.stringify(createOpenApiDocument(), null, 2)}\n`
writeGenerated(new Map([['docs/openapi.json', text]]), 'gen:openapi')
