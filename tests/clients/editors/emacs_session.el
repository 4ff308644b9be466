;;; emacs_session.el --- a session of Emacs with the language server  -*- lexical-binding: t -*-

;; What it shows and does goes to the file OUT, as JSON.

;;; Code:

(require 'package)
(package-activate-all)
(require 'eglot)
(require 'json)

(defvar plan (getenv "PLAN"))
(defvar execplan (split-string (getenv "EXECPLAN") "\n"))
(defvar result nil)

(defun note (key value)
  "Keep VALUE under KEY."
  (push (cons key value) result))

(defun wait-for (what condition)
  "Wait until CONDITION holds; fail with WHAT."
  (let ((limit (+ (float-time) 30)) (holds nil))
    (while (not (setq holds (funcall condition)))
      (when (> (float-time) limit) (error "Waited in vain for %s" what))
      (accept-process-output nil 0.02))
    holds))

(defun shown-findings ()
  "Return the messages of the findings that Flymake shows."
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(defun the-line (text)
  "Go to the line with TEXT and return it."
  (goto-char (point-min))
  (search-forward text)
  (beginning-of-line)
  (buffer-substring-no-properties (line-beginning-position) (line-end-position)))

(defun agent-edits (&rest arguments)
  "Run execplan with ARGUMENTS, as an agent does."
  (unless (zerop (apply #'call-process (car execplan) nil nil nil (append (cdr execplan) arguments)))
    (error "Execplan failed: %s" arguments)))

(defun run-action (title)
  "Run the code action with TITLE at point."
  (let* ((server (eglot-current-server))
         (actions (jsonrpc-request server :textDocument/codeAction
                                   (list :textDocument (eglot--TextDocumentIdentifier)
                                         :range (list :start (eglot--pos-to-lsp-position)
                                                      :end (eglot--pos-to-lsp-position))
                                         :context (list :diagnostics []))))
         (action (seq-find (lambda (action) (equal (plist-get action :title) title)) actions)))
    (unless action (error "No action %s" title))
    (when (plist-get action :edit) (eglot--apply-workspace-edit (plist-get action :edit)))
    (let ((command (plist-get action :command)))
      (when command
        (jsonrpc-request server :workspace/executeCommand
                         (list :command (plist-get command :command)
                               :arguments (plist-get command :arguments)))))))

(defun run-session ()
  "Do what a person does while an agent works."
  (setq eglot-sync-connect 30
        eglot-autoshutdown nil
        eglot-confirm-server-initiated-edits nil
        eglot-send-changes-idle-time 0.05
        flymake-no-changes-timeout 0.05
        make-backup-files nil
        auto-save-default nil
        create-lockfiles nil
        revert-without-query '(".*"))
  ;; Emacs asks whether to discard the text because the file has changed; this person says no, and goes on typing.
  (fset 'yes-or-no-p (lambda (_) nil))
  (fset 'ask-user-about-supersession-threat #'ignore)
  (add-to-list 'auto-mode-alist '("\\.md\\'" . text-mode))
  (add-to-list 'eglot-server-programs (cons 'text-mode (append execplan '("lsp"))))
  (find-file plan)
  (text-mode)
  (apply #'eglot (eglot--guess-contact))
  (wait-for "the server" #'eglot-current-server)
  (the-line "Write the tests")
  (delete-region (line-beginning-position) (line-end-position))
  (insert "-[ ] Write the 🚀 tests.  ")
  (eglot--signal-textDocument/didChange)
  (note 'typed (wait-for "a finding" #'shown-findings))
  (the-line "Write the 🚀 tests")
  (run-action "Fix EP206")
  (note 'fixed (the-line "Write the 🚀 tests"))
  (agent-edits "done" "2")
  (eglot--signal-textDocument/didChange)
  (the-line "Write the 🚀 tests")
  (run-action "Check off")
  (wait-for "the edit of the server" (lambda () (string-match-p "\\[x\\]" (the-line "Write the 🚀 tests"))))
  (note 'unsaved (the-line "Write the 🚀 tests"))
  (note 'on_disk (with-temp-buffer (insert-file-contents plan) (buffer-string)))
  (revert-buffer t t t)
  (unless (eglot-managed-p) (eglot--maybe-activate-editing-mode))
  (eglot--signal-textDocument/didChange)
  (the-line "Write the tests")
  (run-action "Check off")
  (wait-for "the written file" (lambda () (not (verify-visited-file-modtime))))
  (revert-buffer t t t)
  (note 'reloaded (buffer-substring-no-properties (point-min) (point-max)))
  (ignore-errors (eglot-shutdown (eglot-current-server))))

(condition-case problem
    (run-session)
  (error (note 'problem (error-message-string problem))))
(with-temp-file (getenv "OUT") (insert (json-encode result)))
(kill-emacs 0)
;;; emacs_session.el ends here
