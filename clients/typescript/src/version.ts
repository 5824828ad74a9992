/** Version of this package, as in its package.json; sent in `User-Agent`. */
export const CLIENT_VERSION = '1.0.0'
