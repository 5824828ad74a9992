import { assetPages } from './docs/asset-pages.ts'
import { cliReference } from './docs/cli-reference.ts'
import { errorReference } from './docs/error-reference.ts'
import { scarceTable } from './docs/scarce-table.ts'
import { writeGenerated } from './write-generated.ts'

// The pages that are made from the code's own tables.
const pages = [
  ...assetPages(),
  ['cli.md', cliReference()],
  ['errors.md', errorReference()],
  ['security/scarce.md', scarceTable()],
] as const
writeGenerated(new Map(pages.map(([path, text]) => [`docs/${path}`, text])), 'gen:docs')
