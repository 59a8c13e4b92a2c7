// Browsers start no worker for a page that was opened as a file, and the search needs one.
// Here a hidden frame stands in for it; with a server nothing is changed.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inner = this.frame.contentWindow
      inner.document.open()
      inner.document.write("<!doctype html><title>search</title>")
      inner.document.close()
      // What the worker posts goes to the page, and not to its own window.
      inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      }
      inner.importScripts = (...urls) => Promise.all(urls.map((own) => this.load(own)))
      this.loaded = this.load(url)
    }
    load(url) {
      const inner = this.frame.contentWindow
      return new Promise((resolve, reject) => {
        const script = inner.document.createElement("script")
        script.src = url
        script.onload = resolve
        script.onerror = () => reject(new Error(`${url}: not loaded`))
        inner.document.head.appendChild(script)
      })
    }
    postMessage(data) {
      this.loaded.then(() => {
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
      })
    }
    terminate() {
      this.frame.remove()
    }
  }
}
