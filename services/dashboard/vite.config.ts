import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Small modules of the frame and of the first pages, too small for a file each. */
const SMALL =
  /icons\/Icon(Inbox|ZoomQuestion|Search|Plus|Download|ExternalLink)\.|\/use-(narrow|window-event|url-filters)\b|\/(logo|filter-chip|url-filters)\.tsx?$/

/**
 * Every file costs a way there and back, six at a time where a proxy speaks HTTP/1.1. So libraries of all pages are one file, what many
 * pages share is another, and small parts of the first pages are a third; a page, a dialog and a menu are files of their own. `first`
 * runs before them.
 */
const GROUPS = [
  { name: 'first', test: /\/src\/(first\/|start\.ts)/, priority: 4 },
  {
    name: 'vendor',
    test: /node_modules\/(react|react-dom|scheduler|react-router|@tanstack|@trpc|clsx)\//,
    priority: 3,
  },
  { name: 'shared', minShareCount: 10, priority: 2 },
  { name: 'small', test: SMALL, priority: 1 },
]

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
  },
})
