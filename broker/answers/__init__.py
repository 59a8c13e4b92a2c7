"""The answers of the HTTP API as typed dictionaries. They are the return types of the client, and schemas in the API's
description.
"""
