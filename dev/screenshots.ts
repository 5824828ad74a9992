// `npm run screenshots`: every page of the dashboard and the checkout in both themes, with an afternoon of trade, in docs/screenshots/.
// `-- --all --folder DIR` adds a phone and a wide window for every page, to be looked at.
import { parseArgs } from 'node:util'

if (process.argv.includes('--help')) {
  process.stdout.write(
    'npm run screenshots [-- --data DIR --folder DIR --all]: pictures of every page in both themes, in docs/screenshots/ or\n' +
      'another folder, of a new installation or of the development one that runs on the data folder.\n' +
      '--all: every page at 390, 1280 and 1440 px; without it the dashboard at 1280 px, the checkout at 390 and 1280 px\n',
  )
} else {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      folder: { type: 'string', default: 'docs/screenshots' },
      all: { type: 'boolean', default: false },
    },
  })
  const { takePictures } = await import('./screenshots/take-pictures.ts')
  await takePictures(values)
}
