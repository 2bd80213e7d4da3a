// See package.json.
export {}
